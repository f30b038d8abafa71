/** The recipes that `npm run setups` runs, with their packages. The repository does not have these packages. */
export const recipePackages = {
  inference: ['onnxruntime-node@1'],
  pdf: ['pdfkit@0.20'],
  spreadsheets: ['read-excel-file@9', 'write-excel-file@4'],
  zip: ['fflate@0.8'],
}

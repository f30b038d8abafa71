// Never returns.
module.exports = () => {
  for (;;);
}

export default function Page() {
  return <h1>hello</h1>
}

export default function Home() {
  return <h1>hello</h1>
}

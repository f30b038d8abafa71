export default function Page() {
  return <a href="/primes?below=1000000">Count the primes below a million</a>
}

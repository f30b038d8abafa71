import { Pool } from 'lido'
import { Piscina } from 'piscina'
import { readdirSync, readFileSync } from 'node:fs'
const which = process.argv[2], K=+process.argv[3], N = 24000/K|0
const rows = Array.from({length:K},(_, i)=>({zip_code:String(i),latitude:'40.1',longitude:'-70.2',city:'abc',county:'bcd',state:'c'}))
const filename = new URL('../csv/worker.js', import.meta.url)
const pool = which==='lido' ? new Pool({filename,minThreads:2,maxThreads:2}) : new Piscina({filename:filename.href,minThreads:2,maxThreads:2})
await Promise.all(Array.from({length:1000/K},()=>pool.run(rows)))
const tick=()=>Object.fromEntries(readdirSync('/proc/self/task').map(id=>{const s=readFileSync(`/proc/self/task/${id}/stat`,'utf8').split(') ')[1].split(' ');return [id,(+s[11]+ +s[12])/100]}))
const before=tick(), t=performance.now()
let left=N; await Promise.all(Array.from({length:8},async()=>{while(left-->0) await pool.run(rows)}))
const a=tick(), w=performance.now()-t
console.log(which,K,(N*K/w*1000)|0,'rows/s wall',(w/1000).toFixed(2), 'threads', Object.keys(a).map(k=>(a[k]-(before[k]??0)).toFixed(2)).filter(x=>x>0.05).join(' '))
process.exit()

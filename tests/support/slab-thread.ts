import { parentPort, workerData } from 'node:worker_threads';
import { openSlab } from '#gateway/cache/shared-slab.ts';

/** Writes, reads and removes entries of few keys in shared memory, as other threads do; each entry repeats its key. */
const { buffer, seed } = workerData as { buffer: SharedArrayBuffer; seed: number };
const slab = openSlab(buffer);
const rounds = 30_000;
const keys = Array.from({ length: 100 }, (_none, n) => `key ${n} of many;`);
const wrong: string[] = [];
let hits = 0;
let state = seed + 1;
const next = (below: number) => {
  state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
  return (state >> 8) % below;
};

for (let round = 0; round < rounds; round++) {
  const key = keys[next(keys.length)]!;
  const action = next(20);
  if (action === 0) slab.remove(key);
  else if (action < 8) {
    const bytes = Buffer.from(key.repeat(1 + next(300)));
    slab.write('api', key, bytes, slab.readGeneration('api', key), `org${next(5)}`);
  } else {
    const text = slab.read(key)?.bytes.toString();
    if (text === undefined) continue;
    hits++;
    if (text !== key.repeat(text.length / key.length)) wrong.push(`${key}: ${text.slice(0, 60)}`);
  }
}

parentPort!.postMessage({ hits, wrong: wrong.slice(0, 5) });

import { parseArgs } from 'node:util';
import { findSoakFaults, runSoak } from '../tests/support/soak.ts';

/** Soak of the HTTP/1.1 engine: `npm run soak -- --minutes 10`. */
const { values } = parseArgs({ options: { minutes: { type: 'string' } } });
const minutes = Number(values.minutes ?? '10');
if (!(minutes > 0 && minutes <= 1440)) {
  console.error('--minutes is a number above 0, at most 1440');
  process.exit(2);
}
const result = await runSoak(minutes * 60_000);
const { sent, received, recorded, succeeded, reloads, connections, descriptors, memoryBytes } = result;
console.table({ sent, received, recorded, succeeded });
const tenth = Math.ceil(memoryBytes.length / 10);
const megabytes = memoryBytes.filter((_bytes, at) => at % tenth === tenth - 1).map(bytes => Math.round(bytes / 1e6));
console.log(
  `${reloads} reloads; ${connections} connections left, file descriptors ${descriptors.before} before, ${descriptors.after} after`,
);
console.log(`resident memory in MB, by tenths of the time: ${megabytes.join(' ')}`);
const faults = findSoakFaults(result);
for (const fault of faults) console.error(fault);
process.exitCode = faults.length > 0 ? 1 : 0;

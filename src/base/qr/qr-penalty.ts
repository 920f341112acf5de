/** Penalty of a masked symbol: the mask with the lowest one is used (ISO/IEC 18004, section 7.8.3). */
const runPenalty = 3;
const blockPenalty = 3;
const finderPenalty = 40;
const balancePenalty = 10;
const minRun = 5;
/** Patterns that a reader could take for a finder: 1:1:3:1:1 with four light modules on one side. */
const finderLike = ['10111010000', '00001011101'];

export function computePenalty(modules: readonly (readonly boolean[])[]): number {
  const rows = modules.map(row => row.map(it => (it ? '1' : '0')).join(''));
  const columns = rows.map((_, x) => rows.map(row => row[x]).join(''));
  const lines = [...rows, ...columns];
  return (
    lines.reduce((sum, line) => sum + countRuns(line) + countFinders(line) * finderPenalty, 0) +
    countBlocks(modules) * blockPenalty +
    computeBalance(rows.join(''))
  );
}

const countRuns = (line: string): number =>
  [...line.matchAll(/0+|1+/g)].reduce(
    (sum, [run]) => sum + (run.length < minRun ? 0 : runPenalty + run.length - minRun),
    0,
  );

const countFinders = (line: string): number =>
  finderLike.reduce((sum, pattern) => {
    let count = 0;
    for (let at = line.indexOf(pattern); at >= 0; at = line.indexOf(pattern, at + 1)) count++;
    return sum + count;
  }, 0);

function countBlocks(modules: readonly (readonly boolean[])[]): number {
  let count = 0;
  for (let y = 1; y < modules.length; y++)
    for (let x = 1; x < modules.length; x++) {
      const it = modules[y]![x];
      if (it === modules[y - 1]![x] && it === modules[y]![x - 1] && it === modules[y - 1]![x - 1]) count++;
    }
  return count;
}

/** Ten for each step of 5 % that the share of dark modules is from one half. */
function computeBalance(text: string): number {
  const dark = text.replaceAll('0', '').length;
  return Math.floor(Math.abs((dark * 20) / text.length - 10)) * balancePenalty;
}

/** Distance of a name that starts or ends a known one (`Rate` of `RateLimit`): closer than two edits. */
const partDistance = 1.5;
const minPartLength = 4;

/** Did-you-mean: the known name with the least edit distance; undefined where none is close enough to be meant. */
export function closestMatch(name: string, known: Iterable<string>): string | undefined {
  let best: string | undefined;
  let bestDistance = Math.min(Math.max(2, Math.floor(name.length / 3)), name.length - 1) + 1;
  for (const candidate of known) {
    const distance = computeDistance(name, candidate);
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

/** Edit distance in which case and `_` only decide between names that differ in nothing else. */
function computeDistance(name: string, candidate: string): number {
  const [a, b] = [normalizeName(name), normalizeName(candidate)];
  const edits = a === b && name !== candidate ? 0.5 : editDistance(a, b);
  const isPart = a.length >= minPartLength && (b.startsWith(a) || b.endsWith(a));
  return isPart ? Math.min(edits, partDistance) : edits;
}

const normalizeName = (name: string) => name.toLowerCase().replaceAll('_', '');

function editDistance(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const line = [row];
    for (let column = 1; column <= b.length; column++) {
      const change = a[row - 1] === b[column - 1] ? 0 : 1;
      line.push(Math.min(line[column - 1]! + 1, above[column]! + 1, above[column - 1]! + change));
    }
    above = line;
  }
  return above[b.length]!;
}

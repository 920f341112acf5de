import { TemplateError } from '../error.ts';
import { createMap, type FunctionTable, requireText, withArity } from './fn.ts';

/** Semantic version (https://semver.org). */
interface Version {
  readonly numbers: readonly [number, number, number];
  readonly prerelease: string;
  readonly metadata: string;
}

const maxVersionCharacters = 100;
const shape = /^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?(?:-([\w.-]+))?(?:\+([\w.-]+))?$/;

function parseVersion(written: string): Version {
  const found = written.length <= maxVersionCharacters ? shape.exec(written) : null;
  if (!found) throw new TemplateError('invalid semantic version');
  const [, major, minor, patch, prerelease = '', metadata = ''] = found;
  if (prerelease.split('.').some(part => /^0\d+$/.test(part)))
    throw new TemplateError('a version segment starts with 0');
  return { numbers: [Number(major), Number(minor ?? 0), Number(patch ?? 0)], prerelease, metadata };
}

function compareVersions(left: Version, right: Version): number {
  for (const at of [0, 1, 2] as const)
    if (left.numbers[at] !== right.numbers[at]) return left.numbers[at] - right.numbers[at];
  if (left.prerelease === right.prerelease) return 0;
  if (left.prerelease === '') return 1;
  if (right.prerelease === '') return -1;
  return comparePrereleases(left.prerelease.split('.'), right.prerelease.split('.'));
}

function comparePrereleases(left: readonly string[], right: readonly string[]): number {
  for (const [at, part] of left.entries()) {
    const other = right[at];
    if (other === undefined) return 1;
    if (part === other) continue;
    const [isNumber, otherIsNumber] = [/^\d+$/.test(part), /^\d+$/.test(other)];
    if (isNumber && otherIsNumber) return Number(part) - Number(other);
    if (isNumber !== otherIsNumber) return isNumber ? -1 : 1;
    return part < other ? -1 : 1;
  }
  return -1;
}

const condition =
  /^(=|!=|>=|=>|<=|=<|>|<|~>|~|\^)?\s*v?(\d+|[xX*])(?:\.(\d+|[xX*]))?(?:\.(\d+|[xX*]))?(?:-([\w.-]+))?(?:\+[\w.-]+)?$/;

/** True from `from` up to, not including, the version whose number at `place` is one higher. */
function isInRange(it: Version, from: Version, place: number): boolean {
  const next = from.numbers.map((number, at) => (at < place ? number : at === place ? number + 1 : 0));
  const end: Version = { numbers: next as [number, number, number], prerelease: '', metadata: '' };
  return compareVersions(it, from) >= 0 && (place < 0 || compareVersions(it, end) < 0);
}

function matchesCondition(written: string, it: Version): boolean {
  const found = condition.exec(written.trim());
  if (!found) throw new TemplateError('improper constraint');
  const [, operator = '=', ...parts] = found;
  const given = parts.slice(0, 3).filter(part => part !== undefined && /^\d+$/.test(part));
  const [major = 0, minor = 0, patch = 0] = given.map(Number);
  const wanted: Version = { numbers: [major, minor, patch], prerelease: parts[3] ?? '', metadata: '' };
  // A prerelease matches only a condition that names one.
  if (it.prerelease !== '' && wanted.prerelease === '' && operator !== '!=') return false;
  const order = compareVersions(it, wanted);
  const isWhole = given.length === 3;
  switch (operator) {
    case '=':
      return isWhole ? order === 0 : isInRange(it, wanted, given.length - 1);
    case '!=':
      return isWhole ? order !== 0 : !isInRange(it, wanted, given.length - 1);
    case '>':
      return isWhole ? order > 0 : order > 0 && !isInRange(it, wanted, given.length - 1);
    case '<':
      return order < 0;
    case '>=':
    case '=>':
      return order >= 0;
    case '<=':
    case '=<':
      return isWhole ? order <= 0 : order < 0 || isInRange(it, wanted, given.length - 1);
    case '~':
    case '~>':
      return isInRange(it, wanted, Math.min(1, given.length - 1));
    default:
      return isInRange(
        it,
        wanted,
        Math.max(
          0,
          Math.min(
            given.length - 1,
            [major, minor, patch].findIndex(n => n > 0),
          ),
        ),
      );
  }
}

function satisfies(constraint: string, version: string): boolean {
  if (constraint.length > maxVersionCharacters) throw new TemplateError('improper constraint');
  const it = parseVersion(version);
  const ranges = constraint.replaceAll(/(\S+)\s+-\s+(\S+)/g, '>=$1 <=$2').split('||');
  return ranges.some(range =>
    range
      .replaceAll(/([=!<>~^])\s+/g, '$1')
      .trim()
      .split(/\s*,\s*|\s+/)
      .every(part => matchesCondition(part, it)),
  );
}

function describeVersion(written: string): unknown {
  const { numbers, prerelease, metadata } = parseVersion(written);
  const [Major, Minor, Patch] = numbers;
  return Object.assign(createMap(), {
    Major,
    Minor,
    Patch,
    Prerelease: prerelease,
    Metadata: metadata,
    Original: written,
  });
}

export const semverFunctions: FunctionTable = {
  semver: withArity(1, ([version]) => describeVersion(requireText(version))),
  semverCompare: withArity(2, ([constraint, version]) => satisfies(requireText(constraint), requireText(version))),
};

/** State of the history in the address: its page, and two revisions that are compared. */
export interface RevisionSearch {
  readonly p?: number;
  readonly from?: number;
  readonly to?: number;
}

const readNumber = (value: unknown) =>
  Number.isInteger(Number(value)) && Number(value) >= 1 ? Number(value) : undefined;

/** Unknown members are dropped. */
export function readRevisionSearch(search: Record<string, unknown>): RevisionSearch {
  const named = (['p', 'from', 'to'] as const).map(name => [name, readNumber(search[name])] as const);
  return Object.fromEntries(named.filter(([, value]) => value !== undefined));
}

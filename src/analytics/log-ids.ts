import type { Vault } from '#base/vault.ts';

/** Characters of the keyed hash: 128 bits, which distinguish the rows of a millisecond. */
const digestChars = 32;
const idPattern = /^(\d{1,15})-([0-9a-f]{32})$/;

export interface LogPlace {
  readonly rowId: number;
  /** Milliseconds. */
  readonly at: number;
}

/**
 * Public ids of log rows: the time, by which a row is found, and a keyed hash of the row id. Row ids count the requests
 * of all organisations: clients must not see them.
 */
export function createLogIds(vault: Vault, orgId: string) {
  const format = ({ rowId, at }: LogPlace): string =>
    `${at}-${vault.digest(String(rowId), `log id/${orgId}`).slice(0, digestChars)}`;
  return {
    format,
    /** Time of a row; undefined for a text that is no id. */
    parseTime(id: string): number | undefined {
      const at = idPattern.exec(id)?.[1];
      return at === undefined ? undefined : Number(at);
    },
  };
}

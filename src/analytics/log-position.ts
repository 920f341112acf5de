import { Problem } from '#base/problems.ts';
import type { Vault } from '#base/vault.ts';

/** Digits of the largest id: event ids have the same length, whatever the row. */
const idDigits = 16;
const maxSealedCharacters = 200;

const purposeOf = (orgId: string) => `log position/${orgId}`;

/** Event ids of a log stream: row ids, sealed for one organisation. */
export const createLogPositions = (vault: Vault, orgId: string) => ({
  seal: (id: number): string => vault.seal(String(id).padStart(idDigits, '0'), purposeOf(orgId)),
  /** Undefined for a text that is not an event id of the organisation. */
  open(text: string | undefined): number | undefined {
    if (text === undefined || text.length > maxSealedCharacters) return undefined;
    try {
      return Number(vault.open(text, purposeOf(orgId)));
    } catch (error) {
      if (error instanceof Problem) return undefined;
      throw error;
    }
  },
});

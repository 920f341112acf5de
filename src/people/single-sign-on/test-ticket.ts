import { tryParseJson } from '#base/try-parse-json.ts';
import type { Vault } from '#base/vault.ts';

/** User who tests a profile, for the audit record. */
export interface SignOnTester {
  readonly id: string;
  readonly name: string;
}

interface TestTicket {
  readonly profileId: string;
  readonly tester: SignOnTester;
  readonly expiresAtMs: number;
}

const purpose = 'sign-on test';
const ticketTtlMs = 600_000;
const maxTicketLength = 4096;

/** Test ticket: lets a browser run a test of a profile for ten minutes. */
export const createTestTicket = (vault: Vault, ticket: Omit<TestTicket, 'expiresAtMs'>, nowMs: number): string =>
  vault.seal(JSON.stringify({ ...ticket, expiresAtMs: nowMs + ticketTtlMs }), purpose);

export function openTestTicket(vault: Vault, sealed: string, nowMs: number): TestTicket | undefined {
  if (sealed.length > maxTicketLength) return undefined;
  const ticket = tryParseJson(tryOpen(vault, sealed)) as TestTicket | undefined;
  return ticket && ticket.expiresAtMs > nowMs ? ticket : undefined;
}

function tryOpen(vault: Vault, sealed: string): string {
  try {
    return vault.open(sealed, purpose);
  } catch {
    // Changed by the client, or sealed by another installation.
    return '';
  }
}

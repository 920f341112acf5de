import type { SignInLimit } from '../sessions/sign-in-limit.ts';
import { isProviderOutage } from './problems.ts';

/**
 * Runs an attempt within the limit of failures by client address, which it shares with sign-ins. An unavailable provider
 * is no failure of the client.
 */
export async function runCountedAttempt<T>(limit: SignInLimit, address: string, attempt: () => Promise<T>): Promise<T> {
  const counted = limit.beginFromAddress(address);
  try {
    const result = await attempt();
    counted.succeed();
    return result;
  } catch (error) {
    if (isProviderOutage(error)) counted.succeed();
    throw error;
  }
}

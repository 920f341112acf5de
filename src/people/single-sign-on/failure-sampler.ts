import { toAddressKey, toSiteKey } from '#base/address-key.ts';
import type { Clock } from '#base/clock.ts';
import { createFailureCounter, isWorthLogging } from '#base/failure-counter.ts';

const windowMs = 900_000;
const maxKeys = 20_000;
/** Failures of one profile and window that are all recorded. */
const maxRecordedFailures = 100;
/** Failures of one account, and of one address, of a profile that are recorded beyond those of the profile. */
const maxRecordedPerSource = 10;
/** Failures of one profile and window that are recorded by account and address: the audit log stays bounded. */
const maxRecordedBySource = 1000;
/** Records by source of one address, or one site of IPv6: random account names cannot use up those of a profile. */
const maxRecordedPerSite = 50;

export interface FailedSignOn {
  /** Identity profile, or another way to sign on, with its organisation. */
  readonly profile: string;
  /** Account of the attempt; empty where the request names none. */
  readonly account: string;
  readonly address: string;
}

export type FailureSampler = ReturnType<typeof createFailureSampler>;

/**
 * Log and audit sampling of failed sign-ons, which need no credential: beyond a number per profile, the first ones of
 * each account and of each address are recorded, and the 1,000th, 10,000th … of the profile. Failures of one account or
 * address do not hide those of another, also not by ever new account names.
 */
export function createFailureSampler(clock: Clock) {
  const createCounter = (maxFailures: number) => createFailureCounter({ maxFailures, windowMs, maxKeys }, clock);
  const profiles = createCounter(maxRecordedFailures);
  const recordedBySite = createCounter(maxRecordedPerSite);
  const recordedBySource = createCounter(maxRecordedBySource);
  const accounts = createCounter(maxRecordedPerSource);
  const addresses = createCounter(maxRecordedPerSource);

  function isNewSource({ profile, account, address }: FailedSignOn): boolean {
    const ofAccount = account === '' ? Infinity : accounts.record(JSON.stringify([profile, account]));
    const ofAddress = addresses.record(JSON.stringify([profile, toAddressKey(address)]));
    return Math.min(ofAccount, ofAddress) <= maxRecordedPerSource;
  }

  return {
    /** Counts a failure; true where it is to be recorded. */
    record(failed: FailedSignOn): boolean {
      const failures = profiles.record(failed.profile);
      const isNew = isNewSource(failed);
      if (failures <= maxRecordedFailures || isWorthLogging(failures)) return true;
      if (!isNew) return false;
      const site = JSON.stringify([failed.profile, toSiteKey(failed.address)]);
      if (recordedBySite.record(site) > maxRecordedPerSite) return false;
      return recordedBySource.record(failed.profile) <= maxRecordedBySource;
    },
  };
}

import { z } from 'zod';
import { formatOptionalTime } from '../shapes.ts';

/** Client certificate of an app: the public part alone, which the developer has the private key of. */
export interface StoredPortalCertificate {
  ID: number;
  AppID: number;
  Name: string;
  /** SHA-256 of the certificate in hexadecimal digits. */
  Fingerprint: string;
  Subject: string;
  Issuer: string;
  NotBefore: number;
  NotAfter: number;
  PEM: string;
  CreatedAt: number;
  /** Last notice about its expiry that the owner of the app got; absent before the first one. */
  Noticed?: 'expiring' | 'expired';
  /** Organisations whose assigned certificate a request of the app used; absent for a certificate of a developer. */
  AssignedBy?: readonly number[];
}

export type NewCertificate = Pick<
  StoredPortalCertificate,
  'Name' | 'Fingerprint' | 'Subject' | 'Issuer' | 'NotBefore' | 'NotAfter' | 'PEM'
>;

/** Certificate for a request of an app. */
export type ChosenCertificate = NewCertificate & Pick<StoredPortalCertificate, 'AssignedBy'>;

/** Client certificate that administrators assigned to an organisation of developers. */
export interface StoredOrganisationCertificate extends NewCertificate {
  ID: number;
  OrganisationID: number;
  CreatedAt: number;
}

/** A certificate in the certificate store of a provider. */
export interface StoredProviderCertificate {
  ID: number;
  ProviderID: number;
  Fingerprint: string;
  /** Id in the store of the provider; empty before it is known. */
  Reference: string;
  /** The portal stored it, and deletes it after its last use. */
  IsOwned: boolean;
  /** APIs to whose allow lists the portal adds it, recorded before it does. */
  ListedIn: readonly string[];
  /** False while calls for the lists are unfinished. */
  IsComplete: boolean;
}

/** Certificate of a credential: `attaching` and `detaching` while the provider has to make the change. */
export interface BoundCertificate {
  readonly ID: number;
  readonly State: 'attaching' | 'attached' | 'detaching';
}

/** Days before the end of a certificate in which it is shown as one that expires. */
const noticeDays = 30;
const dayMs = 86_400_000;

export const certificateStates = ['valid', 'expiring', 'expired', 'not valid yet'] as const;
export type PortalCertificateState = (typeof certificateStates)[number];

export const findValidity = (
  { NotBefore, NotAfter }: Pick<StoredPortalCertificate, 'NotBefore' | 'NotAfter'>,
  nowMs: number,
): PortalCertificateState => {
  if (NotAfter <= nowMs) return 'expired';
  if (NotBefore > nowMs) return 'not valid yet';
  return NotAfter <= nowMs + noticeDays * dayMs ? 'expiring' : 'valid';
};

export const PortalCertificate = z.object({
  ID: z.int(),
  AppID: z.int(),
  Name: z.string(),
  Fingerprint: z.string(),
  Subject: z.string(),
  Issuer: z.string(),
  NotBefore: z.string(),
  NotAfter: z.string(),
  State: z.enum(certificateStates),
  CreatedAt: z.string(),
  Credentials: z.array(z.int()).describe('Ids of the credentials that it is attached to'),
});

/** Certificate in the list of all apps. */
export const PortalCertificateRow = PortalCertificate.extend({
  App: z.string(),
  UserID: z.int().describe('Owner of the app'),
  UserEmail: z.string(),
});

/** Certificate of an organisation. */
export const OrganisationCertificate = PortalCertificate.omit({ AppID: true }).extend({ OrganisationID: z.int() });

const toSharedView = (
  { ID, Name, Fingerprint, Subject, Issuer, ...it }: StoredPortalCertificate | StoredOrganisationCertificate,
  credentials: readonly number[],
  nowMs: number,
) => ({
  ...{ ID, Name, Fingerprint, Subject, Issuer },
  NotBefore: formatOptionalTime(it.NotBefore),
  NotAfter: formatOptionalTime(it.NotAfter),
  State: findValidity(it, nowMs),
  CreatedAt: formatOptionalTime(it.CreatedAt),
  Credentials: [...credentials],
});

export const toCertificateView = (
  it: StoredPortalCertificate,
  credentials: readonly number[],
  nowMs: number,
): z.output<typeof PortalCertificate> => ({ ...toSharedView(it, credentials, nowMs), AppID: it.AppID });

export const toAssignedView = (
  it: StoredOrganisationCertificate,
  credentials: readonly number[],
  nowMs: number,
): z.output<typeof OrganisationCertificate> => ({
  ...toSharedView(it, credentials, nowMs),
  OrganisationID: it.OrganisationID,
});

import { z } from 'zod';
import { Credential, type StoredCredential, toCredentialView } from '../credentials/schema.ts';
import { formatOptionalTime } from '../shapes.ts';

/** Access request of an app for products under a plan: pending, then approved, which issues a credential, or rejected. */
export const requestStatus = z.enum(['pending', 'approved', 'rejected']);

export interface StoredAccessRequest {
  ID: number;
  AppID: number;
  UserID: number;
  PlanID: number;
  ProductIDs: number[];
  /** 0 where no catalogue holds both products and plan. */
  CatalogueID: number;
  ProviderID: number;
  AuthType: string;
  AuthTypes: string[];
  DCREnabled: boolean;
  /** Client type of the OAuth client; 0 or absent for a key. */
  DCRTemplateID?: number;
  /** Addresses to which the OAuth client sends users back. */
  RedirectURIs?: string[];
  /** Client certificate of the app for the credential; 0 or absent where the products require none. */
  CertificateID?: number;
  ProvisionImmediately: boolean;
  Status: z.output<typeof requestStatus>;
  /** Names at request time, for objects deleted since. */
  Names: { app: string; plan: string; catalogue: string; products: string[] };
  /** Approved request whose plan and products become these; 0 or absent for a request of its own. */
  Changes?: number;
  /** Plan and catalogue that the developer asked for, where the approver granted another plan. */
  Requested?: { PlanID: number; CatalogueID: number; plan: string; catalogue: string };
  /** Note of the developer to those who decide; empty or absent without one. */
  Note?: string;
  /** Why it was rejected; empty without a reason. */
  Reason?: string;
  /** Why the last approval failed; empty or absent without one. */
  Failure?: string;
  /** Time of the mail to administrators about that failure; absent without one. */
  FailureMailedAt?: number;
  /** Hashes of keys of revoked credentials, newest first: their calls are usage of the app too. */
  RevokedHashes?: readonly string[];
  /** Start of the approval in progress; 0 without one. */
  ClaimedAt: number;
  CreatedAt: number;
  UpdatedAt: number;
  /** 0 unless deleted. */
  DeletedAt: number;
}

const brief = {
  Catalogue: z.string(),
  Client: z.string(),
  Plan: z.string(),
  User: z.string(),
  Products: z.string(),
  CreatedAt: z.string(),
  UpdatedAt: z.string(),
  DeletedAt: z.string(),
};
const more = {
  ID: z.int(),
  AppID: z.int(),
  UserID: z.int(),
  UserEmail: z.string().describe('Address of the developer; empty where the user was deleted'),
  PlanID: z.int(),
  RequestedPlan: z.string().describe('Plan of the developer where the approver granted another; empty otherwise'),
  ProductIDs: z.array(z.int()),
  Status: requestStatus,
  AuthType: z.string(),
  AuthTypes: z.array(z.string()),
  DCREnabled: z.boolean(),
  DCRTemplateID: z.int().describe('Client type of the OAuth client; 0 for a key'),
  CertificateID: z.int().describe('Client certificate of the app; 0 for none'),
  ProviderID: z.int(),
  ProvisionImmediately: z.boolean(),
  Changes: z.int().describe('Approved request whose plan or products it changes; 0 for none'),
  Revoked: z.boolean().describe('It was approved, and its credentials were revoked since'),
  Note: z.string().describe('Note of the developer to those who decide'),
  Reason: z.string().describe('Why it was rejected'),
  Failure: z.string().describe('Why the last approval failed'),
};
const Credentials = z.array(Credential);

export const AccessRequestBrief = z.object({ ...brief, Credentials });
export const AccessRequestRow = z.object({ ...brief, ...more });
export const AccessRequest = AccessRequestRow.extend({ Credentials });
/** Inside its app a request names its products one by one. */
export const AccessRequestOfApp = AccessRequest.extend({ Products: z.array(z.string()) });

/** Names and credentials a view needs. */
export interface RequestContext {
  readonly app: string;
  readonly email: string;
  readonly plan: string;
  readonly catalogue: string;
  readonly products: readonly string[];
  readonly credentials: readonly StoredCredential[];
}

export const toRequestBrief = (
  it: StoredAccessRequest,
  context: RequestContext,
): z.output<typeof AccessRequestBrief> => ({
  Catalogue: context.catalogue,
  Client: context.app,
  Plan: context.plan,
  User: `User#${it.UserID}`,
  Products: context.products.join(','),
  CreatedAt: formatOptionalTime(it.CreatedAt),
  UpdatedAt: formatOptionalTime(it.UpdatedAt),
  DeletedAt: it.DeletedAt === 0 ? '' : formatOptionalTime(it.DeletedAt),
  Credentials: context.credentials.map(toCredentialView),
});

export const toRequestView = (it: StoredAccessRequest, context: RequestContext): z.output<typeof AccessRequest> => ({
  ...toRequestBrief(it, context),
  ID: it.ID,
  AppID: it.AppID,
  UserID: it.UserID,
  UserEmail: context.email,
  PlanID: it.PlanID,
  RequestedPlan: it.Requested?.plan ?? '',
  ProductIDs: it.ProductIDs,
  Status: it.Status,
  AuthType: it.AuthType,
  AuthTypes: it.AuthTypes,
  DCREnabled: it.DCREnabled,
  DCRTemplateID: it.DCRTemplateID ?? 0,
  CertificateID: it.CertificateID ?? 0,
  ProviderID: it.ProviderID,
  ProvisionImmediately: it.ProvisionImmediately,
  Changes: it.Changes ?? 0,
  Revoked: it.Status === 'approved' && !it.Changes && context.credentials.length === 0,
  Note: it.Note ?? '',
  Reason: it.Reason ?? '',
  Failure: it.Status === 'pending' ? (it.Failure ?? '') : '',
});

export const toRequestRow = (it: StoredAccessRequest, context: RequestContext): z.output<typeof AccessRequestRow> => {
  const { Credentials: _secret, ...row } = toRequestView(it, context);
  return row;
};

export const toAppRequestView = (
  it: StoredAccessRequest,
  context: RequestContext,
): z.output<typeof AccessRequestOfApp> => ({
  ...toRequestView(it, context),
  Products: [...context.products],
});

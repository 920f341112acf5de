import { z } from 'zod';
import { readOnlyMembers } from '#base/members.ts';
import { createInvalidProblem, type ValidationError } from '#operations/validation-error.ts';
import type { StoredOauthClient } from '../oauth-clients/schema.ts';
import { problem } from '../problems.ts';
import { formatOptionalTime, isDotSegment, lenientInt, nonEmptyText, optionalMember, textUpTo } from '../shapes.ts';

/**
 * Credential that an administrator adds to an app: a key that the provider makes or imports, or a pair of key and
 * secret of another system, which is stored and shown.
 */
const types = ['CREDENTIAL_TYPE_GW_MANAGED', 'CREDENTIAL_TYPE_CUSTOM'] as const;
const tokenTypes = ['AUTH_TOKEN_STANDARD', 'AUTH_TOKEN_TYPE_CUSTOM'] as const;
const importedToken = 'AUTH_TOKEN_TYPE_CUSTOM';
const authMethods = ['authToken', 'multiAuth', 'mutualTLS', 'jwt', 'oauth', 'ba', 'custom'] as const;

/** Also in the spelling of guides. */
const tokenType = z
  .enum([...tokenTypes, 'AUTH_TOKEN_CUSTOM'])
  .transform(text => (text === 'AUTH_TOKEN_CUSTOM' ? importedToken : text));
const oauthProvider = lenientInt.describe('OAuth provider of the client type');
const clientType = lenientInt.describe('Client type of the OAuth client, for products with DCREnabled');

export const CustomCredentialWrite = readOnlyMembers(
  z.object({
    Alias: nonEmptyText(),
    Type: z.enum(types),
    PlanID: optionalMember(lenientInt),
    ProductIDs: optionalMember(z.array(lenientInt).max(100)),
    AuthenticationMethod: optionalMember(z.enum(authMethods)),
    AuthTokenType: optionalMember(tokenType),
    KeyID: optionalMember(textUpTo(1000).refine(text => !isDotSegment(text), 'must not be . or ..')).describe(
      'The key to import, with the type AUTH_TOKEN_TYPE_CUSTOM',
    ),
    ProviderID: optionalMember(oauthProvider),
    ClientTypeID: optionalMember(clientType),
    CredentialKey: optionalMember(textUpTo(10_000)),
    CredentialSecret: optionalMember(textUpTo(10_000)),
  }),
  ['ID', 'CreatedAt', 'UpdatedAt'],
);
export type CustomCredentialWrite = z.output<typeof CustomCredentialWrite>;

/** Only the alias can change: the others are accepted as they are stored, so that a response can be sent back. */
const fixed = z.object({
  ProviderID: optionalMember(lenientInt),
  ClientTypeID: optionalMember(lenientInt),
  Type: optionalMember(z.enum(types)),
  PlanID: optionalMember(z.union([z.literal(''), lenientInt], { error: 'must be a whole number' })),
  ProductIDs: optionalMember(z.array(lenientInt).max(100)),
  AuthenticationMethod: optionalMember(textUpTo()),
  AuthTokenType: optionalMember(z.union([z.literal(''), tokenType])),
  KeyID: optionalMember(textUpTo(10_000)),
  CredentialKey: optionalMember(textUpTo(10_000)),
  CredentialSecret: optionalMember(textUpTo(10_000)),
});
export const CustomCredentialChange = readOnlyMembers(fixed.extend({ Alias: nonEmptyText() }), [
  'ID',
  'CreatedAt',
  'UpdatedAt',
]);

export interface StoredCustomCredential {
  ID: number;
  AppID: number;
  Alias: string;
  Type: (typeof types)[number];
  /** 0 for a pair of another system. */
  PlanID: number;
  ProductIDs: number[];
  /** Provider that made the key; 0 for a pair of another system. */
  PlaneID: number;
  AuthenticationMethod: string;
  AuthTokenType: (typeof tokenTypes)[number] | '';
  /** OAuth client of the credential, with its provider and type; 0 or absent for a key. */
  OauthClientID?: number;
  OauthProviderID?: number;
  ClientTypeID?: number;
  /** Addresses to which the OAuth client sends users back. */
  RedirectURIs?: string[];
  /** The key itself. */
  KeyID: string;
  CredentialKey: string;
  CredentialSecret: string;
  /** Time at which the site showed key and secret; 0 or absent before. */
  RevealedAt?: number;
  CreatedAt: number;
  UpdatedAt: number;
}

export const CustomCredentialRow = z.object({
  ID: z.int(),
  Alias: z.string(),
  Type: z.enum(types),
  PlanID: z.string(),
  ProductIDs: z.array(z.int()),
  AuthenticationMethod: z.string(),
  AuthTokenType: z.string(),
  ProviderID: z.int(),
  ClientTypeID: z.int(),
  CreatedAt: z.string(),
  UpdatedAt: z.string(),
});
export const CustomCredential = CustomCredentialRow.extend({
  KeyID: z.string(),
  CredentialKey: z.string(),
  CredentialSecret: z.string(),
});

/** Without secrets. */
export const toCustomCredentialRow = (it: StoredCustomCredential): z.output<typeof CustomCredentialRow> => ({
  ID: it.ID,
  Alias: it.Alias,
  Type: it.Type,
  PlanID: it.PlanID === 0 ? '' : String(it.PlanID),
  ProductIDs: it.ProductIDs,
  AuthenticationMethod: it.AuthenticationMethod,
  AuthTokenType: it.AuthTokenType,
  ProviderID: it.OauthProviderID ?? 0,
  ClientTypeID: it.ClientTypeID ?? 0,
  CreatedAt: formatOptionalTime(it.CreatedAt),
  UpdatedAt: formatOptionalTime(it.UpdatedAt),
});

/** Id and secret of an OAuth client are its key and secret. */
export const toCustomCredentialView = (
  it: StoredCustomCredential & { readonly Client?: StoredOauthClient },
): z.output<typeof CustomCredential> => ({
  ...toCustomCredentialRow(it),
  KeyID: it.KeyID,
  CredentialKey: it.Client?.ClientID ?? it.CredentialKey,
  CredentialSecret: it.Client?.ClientSecret ?? it.CredentialSecret,
});

const managedMembers = ['PlanID', 'ProductIDs', 'AuthTokenType', 'KeyID', 'ProviderID', 'ClientTypeID'] as const;
const customMembers = ['CredentialKey', 'CredentialSecret'] as const;

/** Members of the other type would have no effect: they are refused, as are missing ones. */
export function checkCustomCredential(body: CustomCredentialWrite): void {
  const isManaged = body.Type === 'CREDENTIAL_TYPE_GW_MANAGED';
  const isAbsent = (name: keyof CustomCredentialWrite) => [undefined, '', 0].includes(body[name] as undefined | '' | 0);
  const faults: ValidationError[] = [];
  const require = (name: keyof CustomCredentialWrite) => {
    if (isAbsent(name)) faults.push({ path: name, message: 'is required' });
  };
  const refuse = (name: keyof CustomCredentialWrite, message: string) => {
    if (!isAbsent(name)) faults.push({ path: name, message });
  };
  if (isManaged) {
    require('PlanID');
    if (!body.ProductIDs?.length) faults.push({ path: 'ProductIDs', message: 'must name a product' });
    for (const name of customMembers) refuse(name, 'is of the type CREDENTIAL_TYPE_CUSTOM only');
    if (body.AuthTokenType === importedToken) require('KeyID');
    else refuse('KeyID', `is of the type ${importedToken} only`);
  } else {
    require('CredentialKey');
    for (const name of managedMembers) refuse(name, 'is of the type CREDENTIAL_TYPE_GW_MANAGED only');
  }
  if (faults.length > 0) throw createInvalidProblem(faults);
}

/** Lists of ids are equal in any order. */
const normalize = (value: unknown) => (Array.isArray(value) ? [...value].sort().join() : String(value));

/** Refuses a change of what was issued or stored with the credential. */
export function checkFixedMembers(
  body: z.output<typeof fixed>,
  stored: Parameters<typeof toCustomCredentialView>[0],
): void {
  const view = toCustomCredentialView(stored);
  const names = fixed.keyof().options;
  const changed = names.filter(name => body[name] !== undefined && normalize(body[name]) !== normalize(view[name]));
  if (changed.length > 0) throw problem.credential_fixed({ detail: { members: changed.join(', ') } });
}

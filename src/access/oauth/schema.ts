import { z } from 'zod';
import { readOnlyMembers } from '#base/members.ts';

/** OAuth client of one API (RFC 6749, 2). */

/** URI schemes that a browser executes instead of navigating. */
const scriptSchemes = /^(javascript|data|vbscript):/i;

/** URL parsers drop line breaks and control characters: `java\nscript:` is `javascript:` to a browser. */
const isRedirect = (uri: string) =>
  !/[\s\p{Cc}]/u.test(uri) && URL.canParse(uri) && !scriptSchemes.test(uri) && !uri.includes('#');

/** Redirect URIs, comma-separated. Each is absolute: a token sent elsewhere would be stolen. */
const redirectUri = z
  .string()
  .max(4000)
  .refine(text => text === '' || text.split(',').every(uri => isRedirect(uri.trim())), {
    message: 'must be absolute URLs without a fragment, separated by commas',
  });

const metaData = z.record(z.string(), z.unknown()).nullable();
const name = z.string().max(200);

/** Body of a create request; ids that are sent are used. */
const writable = z.looseObject({
  client_id: z
    .string()
    .max(200)
    .regex(/^[\x21-\x7e]*$/, 'may hold printable ASCII characters only')
    .optional(),
  secret: z.string().max(1000).optional(),
  redirect_uri: redirectUri.optional(),
  policy_id: z.string().max(128).optional(),
  description: z.string().max(4000).optional(),
  client_name: name.optional(),
  meta_data: metaData.optional(),
  dcr_registration: z
    .looseObject({ access_token: z.string(), client_uri: z.string(), provider: z.string() })
    .partial()
    .nullish(),
});
/** The API is in the path. */
export const OauthClientWrite = readOnlyMembers(writable, ['api_id']);
/** The API is in the body. */
export const OauthClientOfApi = writable.extend({ api_id: z.string().optional() });
export type OauthClientWrite = z.output<typeof OauthClientWrite>;

export const OauthClient = z.looseObject({
  api_id: z.string(),
  client_id: z.string(),
  description: z.string(),
  meta_data: metaData,
  policy_id: z.string(),
  redirect_uri: z.string(),
  secret: z.string(),
  client_name: z.string(),
});
export type OauthClient = z.output<typeof OauthClient>;

export interface StoredClient extends OauthClient {
  id: string;
  org_id: string;
  created_at: string;
}

/** Client as returned, without internal members. */
export const toClientView = ({ id: _id, org_id: _org, created_at: _at, ...client }: StoredClient): OauthClient =>
  client as OauthClient;

/** Client as listed, without secrets. */
export function toListedClient(client: StoredClient): OauthClient {
  const view = { ...toClientView(client), secret: '' };
  const registration = client.dcr_registration as object | null | undefined;
  return registration ? { ...view, dcr_registration: { ...registration, access_token: '' } } : view;
}

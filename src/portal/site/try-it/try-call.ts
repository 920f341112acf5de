import { findHeaderFault, selectGatewayTls } from '#apis/proxy/operations.ts';
import { toAddressKey } from '#base/address-key.ts';
import { outboundProblem } from '#base/http-client/problems.ts';
import { Problem } from '#base/problems.ts';
import type { ReferenceOperation } from '../../files/api-reference.ts';
import type { StoredProduct } from '../../products/schema.ts';
import { isProviderFailure } from '../../providers/provider-client.ts';
import { auditForm } from '../audit.ts';
import type { SiteRequest, SiteServices, SiteVisitor } from '../page.ts';
import { findOpenTerms } from '../terms/terms-page.ts';
import { readPageQuotas } from '../usage/page-use.ts';
import { findTryCredential, type TryCredential } from './try-credentials.ts';
import { createTryLimits, type TryLimits } from './try-limits.ts';
import { buildTryRequest, refuseTry, type TryRequest } from './try-request.ts';
import { type TryResult, toTryResult } from './try-result.ts';
import { findUserToken, loadTryToken, toTokenOwner } from './try-token.ts';

const tryTimeoutMs = 30_000;
const maxTryBytes = 1024 * 1024;

/** An operation of an API that a visitor calls. */
export interface TryTarget {
  readonly product: StoredProduct;
  /** Address of the API at its gateway. */
  readonly base: string;
  /** Header of the credential. */
  readonly authHeader: string;
  readonly operation: Pick<ReferenceOperation, 'method' | 'path' | 'parameters' | 'body'>;
}

export interface TryOutcome {
  readonly status: number;
  readonly error?: string;
  readonly result?: TryResult;
}

/** Client certificates are in the browser, which cannot use them here. */
export const needsCertificate = ({ APIDetails }: StoredProduct): boolean =>
  APIDetails.some(({ CertificateUse }) => CertificateUse);
const isKeyless = ({ AuthType }: StoredProduct) => AuthType === '' || AuthType === 'keyless';

/** True where the visitor may call the APIs of a product from the reference. */
export function canTry(product: StoredProduct, { user }: SiteVisitor, { settings }: SiteServices): boolean {
  const who = settings['portal.try_it'];
  return who !== 'off' && !needsCertificate(product) && (user !== undefined || (who === 'all' && isKeyless(product)));
}

/** Limits are of a process: a visitor of several ones has those of each. */
const limitsOf = new WeakMap<SiteServices, TryLimits>();
export function readTryLimits(services: SiteServices): TryLimits {
  const limits = limitsOf.get(services) ?? createTryLimits(services.clock);
  limitsOf.set(services, limits);
  return limits;
}

/** Calls an operation with a credential of the visitor; every call is in the audit log, without its body. */
export async function callAsVisitor(
  target: TryTarget,
  request: SiteRequest,
  services: SiteServices,
): Promise<TryOutcome> {
  const outcome = await tryCall(target, request, services).catch((error: unknown) => {
    if (!(error instanceof Problem)) throw error;
    return describeTryFailure(error, services);
  });
  const { method, path } = target.operation;
  const called = `${method} ${new URL(target.base).pathname.replace(/\/$/, '')}${path}`;
  await auditForm('tryOperation', request, request.visitor.user, outcome.status, services, called);
  return outcome;
}

const toLimitKey = ({ user }: SiteVisitor, address: string) =>
  user ? toUserLimitKey(user.ID) : `address ${toAddressKey(address)}`;
export const toUserLimitKey = (userId: number): string => `user ${userId}`;

async function tryCall(target: TryTarget, request: SiteRequest, services: SiteServices): Promise<TryOutcome> {
  const { visitor, form, address } = request;
  if (await findOpenTerms(visitor, services))
    throw refuseTry('Accept the new terms of use first: open a page of your account');
  const chosen = form('credential');
  const credential = chosen === '' ? undefined : await findTryCredential(chosen, target.product, visitor, services);
  if (chosen !== '' && !credential) throw refuseTry('This credential cannot be used here: choose another one');
  const built = buildTryRequest(target.operation, {
    read: form,
    base: target.base,
    findFault: (name, value) => findHeaderFault(name, value, services),
    credentialHeader: credential ? target.authHeader.toLowerCase() : '',
  });
  const result = await readTryLimits(services).run(toLimitKey(visitor, address), async () => {
    const used = credential && (await withToken(credential, visitor, services));
    return send(built, used, { address, authHeader: target.authHeader }, services);
  });
  return { status: 200, result };
}

/** The credential with the token of its OAuth client: of the user's sign-in, or one that the server gets for the client. */
async function withToken(
  credential: TryCredential,
  { sessionId }: SiteVisitor,
  services: SiteServices,
): Promise<TryCredential> {
  if (!credential.client) return credential;
  if (credential.needsSignIn) {
    const token = await findUserToken(toTokenOwner(sessionId, credential.client), services);
    if (token === undefined) throw refuseTry('Get a token first: press “Sign in for a token”');
    return { ...credential, key: `Bearer ${token}` };
  }
  try {
    return { ...credential, key: `Bearer ${await loadTryToken(credential.client, services)}` };
  } catch (error) {
    if (!isProviderFailure(error)) throw error;
    services.log.warn({ reason: error.message }, 'token of try-it refused');
    throw refuseTry('The identity provider gave no token for this credential');
  }
}

async function send(
  request: TryRequest,
  credential: TryCredential | undefined,
  { address, authHeader }: { readonly address: string; readonly authHeader: string },
  services: SiteServices,
): Promise<TryResult> {
  const { outbound, clock, settings } = services;
  const { method, url, headers, body } = request;
  const startMs = clock.now();
  const response = await outbound.fetch({
    method,
    url: url.href,
    headers: {
      ...headers,
      ...(credential && { [authHeader.toLowerCase()]: credential.key }),
      'x-forwarded-for': address,
    },
    ...(body === '' ? {} : { body }),
    audience: 'operator',
    timeoutMs: tryTimeoutMs,
    maxBytes: maxTryBytes,
    maxRedirects: 0,
    ...selectGatewayTls(url, settings['management.tls.ca_file']),
  });
  const tookMs = Math.max(0, Math.round(clock.now() - startMs));
  const quota = response.status === 403 && credential ? await findQuota(credential, services) : undefined;
  return toTryResult(response, request, { credential, authHeader, quota }, tookMs);
}

/** Quota of a credential as its provider counts it; undefined where it has none or the provider does not tell. */
async function findQuota({ stored, request, plan }: TryCredential, services: SiteServices) {
  return (await readPageQuotas([{ credential: stored, request, plan }], services)).get(stored.ID);
}

/** Errors of connections name addresses of the installation: visitors see less than the log. */
function describeTryFailure(error: Problem, { log }: SiteServices): TryOutcome {
  if (error.code === outboundProblem.timed_out.code)
    return { status: 504, error: `There was no response within ${tryTimeoutMs / 1000} seconds.` };
  if (error.code === outboundProblem.too_large.code)
    return { status: 502, error: 'The response is larger than 1 MiB: call the API with a client of your own.' };
  if (!error.code.startsWith('outbound')) return { status: error.status, error: error.message };
  log.warn({ err: error }, 'gateway of a product unavailable');
  return { status: 502, error: 'The gateway of this product cannot be reached at the moment.' };
}

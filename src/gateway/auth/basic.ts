import type { MaybePromise } from '#base/maybe-promise.ts';
import { compileRegex, InvalidRegex } from '#base/regex.ts';
import type { Model } from '#definition/model.ts';
import type { GatewayResponse } from '../http/response.ts';
import type { Exchange, StepResult } from '../pipeline/exchange.ts';
import { refuse } from '../pipeline/refusals.ts';
import type { RefusalCode } from '../pipeline/refusals-table.ts';
import { ApiCompileError, type Step, type StepContext, type StepReads } from '../pipeline/step.ts';
import { deny, providesSession, setIdentity } from './auth-result.ts';
import { readCredential, toCredentialSources } from './credential-sources.ts';
import type { CachedKey } from './key-cache.ts';
import { createPasswordCheck, type PasswordCheck, type PasswordVerdict } from './password-check.ts';
import { escapeQuotedString } from './quoted-string.ts';
import type { AuthServices } from './services.ts';

interface Credentials {
  readonly user: string;
  readonly password: string;
}

const isCredentials = (given: Credentials | RefusalCode): given is Credentials => typeof given === 'object';

const defaultTtlSeconds = 60;

type Services = Pick<AuthServices, 'clock' | 'emitEvent' | 'keyCache' | 'settings'>;

const reads = { api: ['basic'], also: { api: ['authMethods', 'authentication'] } } as const satisfies StepReads;

/** HTTP Basic authentication (RFC 7617). */
export const basicAuthStep: Step<Services, typeof reads> = {
  name: 'basic',
  reads,
  build(context) {
    if (!context.model.authMethods.includes('basic')) return undefined;
    const places = toCredentialSources(context.model.basic);
    const fromBody = context.model.basic.extractFromBody ? compileBodyReader(context.model.basic) : undefined;
    const { signIn: authenticate, challenged: addChallenge } = createAuthenticator(context);
    return {
      request(call) {
        if (call.skipsAuth) return undefined;
        const given = parseBasicCredentials(readCredential(places, call));
        if (isCredentials(given)) return authenticate(call, given);
        if (!fromBody) return given === 'basic_field_missing' ? addChallenge(refuse(call, given)) : refuse(call, given);
        return fromBody(call).then(found => (isCredentials(found) ? authenticate(call, found) : refuse(call, found)));
      },
    };
  },
};

const wellFormed = /^basic ([^ ]+)$/i;
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** The user name ends at the first colon; a password may contain colons. */
function parseBasicCredentials(header: string): Credentials | RefusalCode {
  if (header === '') return 'basic_field_missing';
  const [, encoded] = wellFormed.exec(header) ?? [];
  if (encoded === undefined) return 'basic_malformed';
  if (!base64.test(encoded)) return 'basic_not_encoded';
  const text = Buffer.from(encoded, 'base64').toString();
  const colon = text.indexOf(':');
  return colon < 0 ? 'basic_values_malformed' : { user: text.slice(0, colon), password: text.slice(colon + 1) };
}

/** Login forms are small. */
const maxSearchedBodyBytes = 65_536;
/** A body is far longer than a path, so its patterns must be simpler. */
const maxPatternInstructions = 200;

function compileBodyReader({ userRegexp, passwordRegexp }: Model['basic']) {
  if (userRegexp === '' || passwordRegexp === '')
    throw new ApiCompileError(
      'basic authentication from the body needs a regular expression for user name and password',
    );
  const user = compileGroupReader(userRegexp, 'body_user_missing', 'body_user_group_missing');
  const password = compileGroupReader(passwordRegexp, 'body_password_missing', 'body_password_group_missing');
  return async (call: Exchange): Promise<Credentials | RefusalCode> => {
    const body = (await call.body.read(maxSearchedBodyBytes)).toString();
    const name = user(body);
    if (typeof name === 'string') return name;
    const word = password(body);
    return typeof word === 'string' ? word : { user: name.text, password: word.text };
  };
}

function compileGroupReader(source: string, missing: RefusalCode, ungrouped: RefusalCode) {
  const compiled = compilePattern(source);
  const hasGroup = compiled.groupCount() > 0;
  return (body: string): { text: string } | RefusalCode => {
    const matcher = compiled.matcher(body);
    if (!matcher.find()) return missing;
    return hasGroup ? { text: matcher.group(1) ?? '' } : ungrouped;
  };
}

function compilePattern(source: string) {
  try {
    return compileRegex(source, { maxInstructions: maxPatternInstructions });
  } catch (error) {
    if (!(error instanceof InvalidRegex)) throw error;
    throw new ApiCompileError(`a regular expression of basic authentication ${error.message}`);
  }
}

/** One per thread: the result for a password does not depend on the API. */
const passwordChecks = new WeakMap<object, PasswordCheck>();

function getPasswordCheck({ keyCache, clock, settings }: Services): PasswordCheck {
  const known = passwordChecks.get(keyCache);
  if (known) return known;
  const made = createPasswordCheck(clock, settings['gateway.max_wrong_passwords_per_minute']);
  passwordChecks.set(keyCache, made);
  return made;
}

function createAuthenticator({ model, services }: StepContext<Services, typeof reads>) {
  const { orgId, name } = model.identity;
  const setsIdentity = providesSession(model, 'basic');
  const { disableCaching, cacheTTL } = model.basic;
  const cacheMs = disableCaching ? 0 : (cacheTTL > 0 ? cacheTTL : defaultTtlSeconds) * 1000;
  const check = getPasswordCheck(services);
  const challenge = `Basic realm="${escapeQuotedString(name)}"`;

  function addChallenge(refused: GatewayResponse): GatewayResponse {
    refused.headers.append('WWW-Authenticate', challenge);
    return refused;
  }

  function authenticate(call: Exchange, credentials: Credentials): MaybePromise<StepResult> {
    const found = services.keyCache.find(orgId, credentials.user);
    return found instanceof Promise
      ? found.then(known => checkPassword(call, credentials, known))
      : checkPassword(call, credentials, found);
  }

  function checkPassword(
    call: Exchange,
    { user, password }: Credentials,
    known: CachedKey | undefined,
  ): MaybePromise<StepResult> {
    const right = check.matches({
      user: `${orgId}/${user}`,
      stored: known?.session.password,
      password,
      cacheMs,
      client: call.clientAddress,
      isConnected: () => !call.isClientDisconnected,
    });
    return right instanceof Promise
      ? right.then(it => finish(call, user, known, it))
      : finish(call, user, known, right);
  }

  function finish(call: Exchange, user: string, known: CachedKey | undefined, right: PasswordVerdict): StepResult {
    if (right === 'abandoned') return refuse(call, 'client_disconnected');
    if (right === 'limited') return rejectLimited(call, user);
    if (!known || !right) return addChallenge(deny(services, call, 'basic_refused', services.keyCache.hashOf(user)));
    if (setsIdentity) setIdentity(call, known, 'basic');
    return undefined;
  }

  function rejectLimited(call: Exchange, user: string): GatewayResponse {
    const refused = deny(services, call, 'basic_limited', services.keyCache.hashOf(user));
    const seconds = check.retryAfterSeconds(call.clientAddress, `${orgId}/${user}`);
    refused.headers.append('Retry-After', String(seconds));
    return refused;
  }

  return { signIn: authenticate, challenged: addChallenge };
}

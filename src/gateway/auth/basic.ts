import { compileRegex, InvalidRegex } from '#base/regex.ts';
import type { Model } from '#definition/model.ts';
import type { GatewayResponse } from '../http/response.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { type RefusalCode, refuse } from '../pipeline/refusals.ts';
import { ApiCompileError, type MaybePromise, type Step, type StepContext, type StepResult } from '../pipeline/step.ts';
import { adopt, deny, givesSession } from './auth-result.ts';
import { credentialIn, placesOf } from './credential-sources.ts';
import type { KnownKey } from './key-cache.ts';
import { type PasswordCheck, type PasswordVerdict, passwordCheck } from './password-check.ts';

interface Credentials {
  readonly user: string;
  readonly password: string;
}

const isCredentials = (given: Credentials | RefusalCode): given is Credentials => typeof given === 'object';

const defaultTtlSeconds = 60;

/** Callers send user name and password. */
export const basic: Step = {
  name: 'basic',
  build(context) {
    if (!context.model.modes.includes('basic')) return undefined;
    const places = placesOf(context.model.basic);
    const fromBody = context.model.basic.extractFromBody ? bodyReader(context.model.basic) : undefined;
    const { signIn, challenged } = signingIn(context);
    return {
      request(call) {
        if (call.skipsAuth) return undefined;
        const given = credentialsIn(credentialIn(places, call));
        if (isCredentials(given)) return signIn(call, given);
        if (!fromBody) return given === 'basic_field_missing' ? challenged(refuse(call, given)) : refuse(call, given);
        return fromBody(call).then(found => (isCredentials(found) ? signIn(call, found) : refuse(call, found)));
      },
    };
  },
};

const wellFormed = /^basic ([^ ]+)$/i;
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** The name ends at the first colon; a password may hold more. */
function credentialsIn(header: string): Credentials | RefusalCode {
  if (header === '') return 'basic_field_missing';
  const [, encoded] = wellFormed.exec(header) ?? [];
  if (encoded === undefined) return 'basic_malformed';
  if (!base64.test(encoded)) return 'basic_not_encoded';
  const text = Buffer.from(encoded, 'base64').toString();
  const colon = text.indexOf(':');
  return colon < 0 ? 'basic_values_malformed' : { user: text.slice(0, colon), password: text.slice(colon + 1) };
}

/** Forms that sign somebody in are small. */
const bodyBytesSearched = 65_536;
/** A body is far longer than a path: a pattern over one must be simpler. */
const mostInstructions = 200;

function bodyReader({ userRegexp, passwordRegexp }: Model['basic']) {
  if (userRegexp === '' || passwordRegexp === '')
    throw new ApiCompileError('basic authentication from the body needs an expression for both user and password');
  const user = firstGroup(userRegexp, 'body_without_user', 'body_user_ungrouped');
  const password = firstGroup(passwordRegexp, 'body_without_password', 'body_password_ungrouped');
  return async (call: Exchange): Promise<Credentials | RefusalCode> => {
    const body = (await call.body.read(bodyBytesSearched)).toString();
    const name = user(body);
    if (typeof name === 'string') return name;
    const word = password(body);
    return typeof word === 'string' ? word : { user: name.text, password: word.text };
  };
}

function firstGroup(source: string, missing: RefusalCode, ungrouped: RefusalCode) {
  const compiled = readable(source);
  const hasGroup = compiled.groupCount() > 0;
  return (body: string): { text: string } | RefusalCode => {
    const matcher = compiled.matcher(body);
    if (!matcher.find()) return missing;
    return hasGroup ? { text: matcher.group(1) ?? '' } : ungrouped;
  };
}

function readable(source: string) {
  try {
    return compileRegex(source, { maxInstructions: mostInstructions });
  } catch (error) {
    if (!(error instanceof InvalidRegex)) throw error;
    throw new ApiCompileError(`an expression of basic authentication cannot be used: it ${error.message}`);
  }
}

/** One for the thread: what a password was found to be does not depend on the API that asked. */
const checks = new WeakMap<object, PasswordCheck>();

function checkOf({ keyCache, clock, settings }: StepContext['services']): PasswordCheck {
  const known = checks.get(keyCache);
  if (known) return known;
  const made = passwordCheck(clock, settings['gateway.wrong_passwords_per_minute']);
  checks.set(keyCache, made);
  return made;
}

function signingIn({ model, services }: StepContext) {
  const { orgId, name } = model.identity;
  const gives = givesSession(model, 'basic');
  const { disableCaching, cacheTTL } = model.basic;
  const rememberMs = disableCaching ? 0 : (cacheTTL > 0 ? cacheTTL : defaultTtlSeconds) * 1000;
  const check = checkOf(services);
  const realm = `Basic realm="${quoted(name)}"`;

  function challenged(refused: GatewayResponse): GatewayResponse {
    refused.headers.append('WWW-Authenticate', realm);
    return refused;
  }

  function signIn(call: Exchange, credentials: Credentials): MaybePromise<StepResult> {
    const found = services.keyCache.find(orgId, credentials.user);
    return found instanceof Promise
      ? found.then(known => judged(call, credentials, known))
      : judged(call, credentials, found);
  }

  function judged(
    call: Exchange,
    { user, password }: Credentials,
    known: KnownKey | undefined,
  ): MaybePromise<StepResult> {
    const right = check.matches({
      user: `${orgId}/${user}`,
      stored: known?.session.password,
      password,
      rememberMs,
      client: call.clientAddress,
      isConnected: () => !call.isClientDisconnected,
    });
    return right instanceof Promise
      ? right.then(it => settled(call, user, known, it))
      : settled(call, user, known, right);
  }

  function settled(call: Exchange, user: string, known: KnownKey | undefined, right: PasswordVerdict): StepResult {
    if (right === 'abandoned') return refuse(call, 'client_gone');
    if (right === 'limited') return limited(call, user);
    if (!known || !right) return challenged(deny(services, call, 'basic_refused', services.keyCache.hashOf(user)));
    if (gives) adopt(call, known, 'basic');
    return undefined;
  }

  function limited(call: Exchange, user: string): GatewayResponse {
    const refused = deny(services, call, 'basic_limited', services.keyCache.hashOf(user));
    const seconds = check.retryAfterSeconds(call.clientAddress, `${orgId}/${user}`);
    refused.headers.append('Retry-After', String(seconds));
    return refused;
  }

  return { signIn, challenged };
}

/** A name as a header may hold it. */
const quoted = (name: string) => name.replaceAll(/[^\x20-\x7e]/g, '?').replaceAll(/["\\]/g, '\\$&');

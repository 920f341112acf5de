import { Answer } from './answer.ts';
import { bodyOf } from './body.ts';
import type { Exchange } from './exchange.ts';
import { HeaderList } from './headers.ts';

/**
 * Every way the gateway says no to a caller. The texts are a contract: clients match on them. The code is stable; it
 * stands in analytics records and in docs/reference/refusals.md.
 */
export interface Refusal {
  readonly status: number;
  readonly message: string;
  /** What handlers are told, beside the answer. */
  readonly event?: string;
  readonly about: string;
}

const table = {
  no_session: {
    status: 400,
    message: 'Session state is missing or unset! Please make sure that auth headers are properly applied',
    about: 'No way in set a session.',
  },
  api_unserved: {
    status: 503,
    message: 'This API is not available: {reason}',
    about: 'The definition needs something that is missing.',
  },
  api_expired: {
    status: 403,
    message: 'API has expired, please check documentation or contact administrator',
    event: 'VersionFailure',
    about: 'The expiration of the API has passed.',
  },
  version_missing: {
    status: 403,
    message: 'Version information not found',
    event: 'VersionFailure',
    about: 'The call names no version and there is no default.',
  },
  version_unknown: {
    status: 403,
    message: 'This API version does not seem to exist',
    event: 'VersionFailure',
    about: 'The definition has no such version.',
  },
  version_api_unknown: {
    status: 404,
    message: 'This API version does not seem to exist',
    about: 'No API serves this version.',
  },
  version_default_unserved: {
    status: 500,
    message: 'Internal Server Error',
    about: 'The default version names an API that is not served.',
  },
  version_ambiguous: {
    status: 403,
    message: 'Ambiguous default API version for this non-versioned API',
    event: 'VersionFailure',
    about: 'Several versions could be the default.',
  },
  version_no_default: {
    status: 403,
    message: 'No default API version for this non-versioned API found',
    event: 'VersionFailure',
    about: 'None of the versions is the default.',
  },
  version_expired: {
    status: 403,
    message: 'Api Version has expired, please check documentation or contact administrator',
    event: 'VersionFailure',
    about: 'The version’s expiry has passed.',
  },
  endpoint_forbidden: {
    status: 403,
    message: 'Requested endpoint is forbidden',
    event: 'VersionFailure',
    about: 'A block or allow list keeps the endpoint closed.',
  },
  loop_unknown: {
    status: 500,
    message: "Couldn't detect target",
    about: 'A gw:// target names no API that is served.',
  },
  loop_too_deep: {
    status: 500,
    message: 'Loop level too deep. Found more than {limit} loops in single request',
    about: 'The call was handed on too often.',
  },
  upstream_timeout: {
    status: 504,
    message: 'Upstream service reached hard timeout.',
    about: 'The upstream did not answer in time.',
  },
  upstream_lookup: {
    status: 500,
    message: 'Upstream host lookup failed',
    about: 'The upstream’s name has no address.',
  },
  upstream_failed: {
    status: 500,
    message: 'There was a problem proxying the request',
    about: 'The connection to the upstream failed.',
  },
  client_gone: { status: 499, message: 'Client closed request', about: 'The caller did not wait for the answer.' },
  internal: { status: 500, message: 'Internal Server Error', about: 'A fault of ours; the log has its cause.' },
} as const satisfies Record<string, Refusal>;

export type RefusalCode = keyof typeof table;
export const refusals: Readonly<Record<RefusalCode, Refusal>> = table;

/** Shows how the gateway answers; replaced by settings. */
const generator = 'gatewright';

export function refuse(call: Exchange, code: RefusalCode, detail?: Readonly<Record<string, string | number>>): Answer {
  const { status, message } = refusals[code];
  const text = detail ? message.replace(/\{(\w+)\}/g, (_whole, name: string) => String(detail[name])) : message;
  call.refusal = code;
  return refusalAnswer(call, status, text);
}

/** The answer itself, for refusals whose status or words come from a definition. */
export function refusalAnswer(call: Exchange, status: number, message: string): Answer {
  const [type, body] = rendered(call, message);
  return new Answer(
    status,
    new HeaderList(['Content-Type', type, 'X-Generator', generator]),
    bodyOf(Buffer.from(body)),
    true,
  );
}

const xmlTypes = new Set(['application/xml', 'text/xml', 'application/soap+xml']);
const xmlEscapes: Readonly<Record<string, string>> = {
  '<': '&lt;',
  '>': '&gt;',
  '&': '&amp;',
  "'": '&#39;',
  '"': '&#34;',
};

/** In the caller's own notation: XML for those who sent XML, JSON for everybody else. */
function rendered(call: Exchange, message: string): [type: string, body: string] {
  const given = call.headers.get('content-type');
  const type = (given ?? '').split(';', 1)[0]!.trim().toLowerCase();
  if (xmlTypes.has(type)) {
    const escaped = message.replaceAll(/[<>&'"]/g, character => xmlEscapes[character]!);
    return [given!, `<?xml version="1.0" encoding="UTF-8"?>\n<error>${escaped}</error>`];
  }
  return ['application/json', `{\n    "error": ${JSON.stringify(message)}\n}`];
}

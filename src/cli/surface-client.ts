import { Problem } from '#base/problems.ts';
import { CallFailed, createOperationClient } from '#operations/client.ts';
import { surfaces } from '#operations/surfaces.ts';
import { problem } from './problems.ts';

/** Client of one management surface of a gateway, over HTTP only. */
export type SurfaceClient<List extends readonly unknown[]> = ReturnType<typeof createOperationClient<List>>;

export interface SurfaceClientOptions {
  readonly url: string;
  readonly secret: string;
  /** Sent with every request, besides the credential. */
  readonly headers?: Readonly<Record<string, string>>;
  /** For operations on many objects. */
  readonly timeoutMs?: number;
  /** With the TLS options of the command. */
  readonly fetch: typeof fetch;
}

/** Words of a surface in messages, and the environment variable of its secret. */
const surfaceTexts = {
  gateway: { surface: 'control interface', secret: 'gateway secret', variable: 'GW_SECRET' },
  admin: { surface: 'admin interface', secret: 'admin secret', variable: 'GW_ADMIN_SECRET' },
  dashboard: { surface: 'dashboard interface', secret: 'access key', variable: 'GW_ACCESS_KEY' },
} as const;

type SurfaceText = (typeof surfaceTexts)[keyof typeof surfaceTexts];

const defaultTimeoutMs = 60_000;

export function createSurfaceClient<List extends readonly unknown[]>(
  name: keyof typeof surfaceTexts,
  { url, secret, headers = {}, timeoutMs = defaultTimeoutMs, fetch: send }: SurfaceClientOptions,
): SurfaceClient<List> {
  const texts = surfaceTexts[name];
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) throw problem.bad_url({ detail: { url } });
  if (secret === '') throw problem.no_secret({ detail: texts });
  const base = url.replace(/\/+$/, '');
  const call = createOperationClient<List>({
    url: base,
    headers: { ...headers, [surfaces[name].credentialHeader]: secret },
    fetch: (input, init) => send(input, { ...init, signal: AbortSignal.timeout(timeoutMs) }),
  });
  const context = { ...texts, url: base, timeoutMs, unauthorizedStatus: surfaces[name].unauthorizedStatus };
  const callWithProblems: SurfaceClient<List> = async (route, options) => {
    try {
      return requireObject(await call(route, options), context);
    } catch (error) {
      throw toProblem(error, context);
    }
  };
  return callWithProblems;
}

type CallContext = SurfaceText & {
  readonly url: string;
  readonly timeoutMs: number;
  readonly unauthorizedStatus: number;
};

/** Rejects HTML and other non-JSON responses: the URL is not a management surface. */
function requireObject<T>(value: T, context: CallContext): T {
  if (typeof value === 'object' && value !== null) return value;
  throw problem.wrong_surface({ detail: { ...context, reason: 'its response is not JSON' } });
}

/** Problem for a failed call. It keeps the status, so that callers can recognise 404. */
function toProblem(error: unknown, context: CallContext): unknown {
  if (error instanceof Problem) return error;
  if (!(error instanceof CallFailed))
    return problem.unreachable({ detail: { url: context.url, reason: describeReason(error, context) } });
  const { status, body } = error;
  const { message, Message, Meta } = (body ?? {}) as { message?: unknown; Message?: unknown; Meta?: unknown };
  const reason = message ?? Message;
  if (typeof reason !== 'string')
    return problem.wrong_surface({ detail: { ...context, reason: `it responded with status ${status}` } });
  if (status === context.unauthorizedStatus) return problem.wrong_secret({ detail: context });
  return new Problem(problem.refused.code, { status, message: reason }, { detail: { meta: Meta } });
}

/** Errors of a certificate whose issuer is not trusted (OpenSSL). */
const isTrustError = (code: string) => /SELF_SIGNED|UNABLE_TO_(GET_ISSUER|VERIFY_LEAF)/.test(code);

function describeReason(error: unknown, { timeoutMs }: CallContext): string {
  const { name, cause } = error as { name: string; cause?: { code?: string; message?: string } };
  if (name === 'TimeoutError') return `no response within ${timeoutMs / 1000} seconds`;
  if (cause?.code && isTrustError(cause.code))
    return `${cause.code}: the server is not trusted; set GW_CA_FILE to the PEM file of its certificate authority`;
  return cause?.code ?? cause?.message ?? (error as Error).message;
}

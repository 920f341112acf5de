import type { z } from 'zod';
import { readExtraAuthorities } from '#base/authority-file.ts';
import type { OutboundClient } from '#base/http-client/client.ts';
import type { OutboundTls } from '#base/http-client/pool.ts';
import type { OutboundResponse } from '#base/http-client/response.ts';
import { objectOrEmpty } from '#base/json-tree.ts';
import { Problem } from '#base/problems.ts';
import { tryParseJson } from '#base/try-parse-json.ts';
import { problem } from './problems.ts';
import type { StoredProvider } from './providers/schema.ts';
import { trimSlashes } from './shapes.ts';

const callTimeoutMs = 15_000;
/** All policies of an organisation come in one response. */
const maxResponseBytes = 32 * 1024 * 1024;
const maxReasonLength = 300;
const binaryType = 'application/octet-stream';

/** HTTP client of a provider's dashboard API. Errors carry its message, with the secret masked. */
export function createDashboardClient(
  { Name: name, MetaData, Secret }: StoredProvider,
  outbound: OutboundClient,
  /** Authorities besides the well-known ones; empty for none. */
  caFile: string,
) {
  const base = trimSlashes(MetaData.URL);
  const maskSecret = (text: string) => (Secret ? text.replaceAll(Secret, '***') : text).slice(0, maxReasonLength);
  const unavailable = (reason: string, cause?: unknown) =>
    problem.provider_unavailable({ detail: { name, reason: maskSecret(reason) }, cause });

  /** A body is sent as JSON; a buffer as it is. */
  async function send(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<OutboundResponse> {
    const isBinary = Buffer.isBuffer(body);
    try {
      return await outbound.fetch({
        url: base + path,
        method,
        headers: {
          authorization: Secret,
          accept: 'application/json',
          ...(body === undefined ? {} : { 'content-type': isBinary ? binaryType : 'application/json' }),
        },
        ...(body === undefined ? {} : { body: isBinary ? body : JSON.stringify(body) }),
        audience: 'operator',
        reachesManagement: true,
        timeoutMs: callTimeoutMs,
        maxBytes: maxResponseBytes,
        ...(signal && { signal }),
        ...selectTls(MetaData.InsecureSkipVerify, caFile, unavailable),
      });
    } catch (cause) {
      if (cause instanceof Problem) throw unavailable(cause.message, cause);
      throw cause;
    }
  }

  function read<S extends z.ZodType>(shape: S, { status, body }: OutboundResponse): z.output<S> {
    const text = body.toString('utf8');
    if (status >= 300) {
      const failure = isOutage(status) ? problem.provider_unavailable : problem.provider_refused;
      const reason = maskSecret(`${status} ${messageOf(text)}`);
      throw failure({ detail: { name, reason, status, isDashboard: isDashboardError(text) } });
    }
    const result = shape.safeParse(tryParseJson(text));
    if (!result.success) throw unavailable('its response is not that of a dashboard');
    return result.data;
  }

  return {
    async call<S extends z.ZodType>(shape: S, method: string, path: string, body?: unknown): Promise<z.output<S>> {
      return read(shape, await send(method, path, body));
    },
    /** As `call`; undefined for 404. */
    async callMaybe<S extends z.ZodType>(shape: S, ...call: Parameters<typeof send>): Promise<z.output<S> | undefined> {
      const response = await send(...call);
      return response.status === 404 ? undefined : read(shape, response);
    },
  };
}

/** The file is read for each request: providers are called rarely, and its replacement needs no restart. */
function selectTls(
  isInsecure: boolean,
  caFile: string,
  unavailable: (reason: string, cause: unknown) => Error,
): { tls?: OutboundTls } {
  if (isInsecure) return { tls: { insecure: true } };
  if (caFile === '') return {};
  try {
    return { tls: { ca: readExtraAuthorities(caFile) } };
  } catch (cause) {
    throw unavailable(`management.tls.ca_file cannot be read (${(cause as NodeJS.ErrnoException).code})`, cause);
  }
}

const isOutage = (status: number) => status === 401 || status === 403 || status >= 500;

/** Form of the errors of a dashboard. */
function isDashboardError(text: string): boolean {
  const { Status, Message } = objectOrEmpty(tryParseJson(text));
  return Status === 'Error' && typeof Message === 'string';
}

function messageOf(text: string): string {
  const { Message, message } = (tryParseJson(text) ?? {}) as { Message?: unknown; message?: unknown };
  const reported = Message ?? message;
  return typeof reported === 'string' ? reported : text;
}

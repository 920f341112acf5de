import { forEachCookie, unquoteCookie } from '../http/cookies.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { ensureRequestId } from '../pipeline/request-id.ts';
import type { PipelineServices } from '../pipeline/services.ts';
import type { Step, StepReads } from '../pipeline/step.ts';
import { decodeHeaderText, toHeaderNames } from '../variables/header-name.ts';

/** Query and form parameters that become variables. */
const maxParameters = 1000;
const formType = /^application\/x-www-form-urlencoded\s*(?:;|$)/i;
const formMethods = new Set(['POST', 'PUT', 'PATCH']);

type Services = Pick<PipelineServices, 'settings'>;

const reads = { api: ['contextVariables'] } as const satisfies StepReads;

/**
 * Context variables: facts of the request as received, for headers, rewrites and templates. Later changes of the
 * request do not change them.
 */
export const contextVariablesStep: Step<Services, typeof reads> = {
  name: 'context-variables',
  reads,
  build({ model, services: { settings } }) {
    if (!model.contextVariables.enabled) return undefined;
    const maxBytes = settings['gateway.max_buffered_body_bytes'];
    return {
      request(call) {
        const context = describeRequest(call);
        call.context = context;
        if (!isForm(call)) {
          addParameters(context, call.query, '');
          return undefined;
        }
        return call.body.read(maxBytes).then(bytes => addParameters(context, call.query, bytes.toString('utf8')));
      },
    };
  },
};

const isForm = ({ method, headers, body }: Exchange) =>
  !body.isEmpty && formMethods.has(method) && formType.test(headers.get('content-type') ?? '');

function describeRequest(call: Exchange): Record<string, unknown> {
  const path = call.path.includes('%') ? decodeURIComponent(call.path) : call.path;
  const context: Record<string, unknown> = {
    path,
    path_parts: path.split('/').filter(Boolean),
    remote_addr: call.clientAddress,
    request_id: ensureRequestId(call),
  };
  if (call.traceId !== '') context.gw_trace_id = call.traceId;
  const headers: Record<string, string[]> = Object.create(null);
  const { flat } = call.headers;
  for (let i = 0; i < flat.length; i += 2) {
    const { canonical, variable } = toHeaderNames(flat[i]!);
    const value = decodeHeaderText(flat[i + 1]!);
    const values = headers[canonical];
    if (values) values.push(value);
    else {
      headers[canonical] = [value];
      context[variable] = value;
    }
    if (canonical === 'Cookie') addCookies(context, value);
  }
  context.headers = headers;
  return context;
}

function addCookies(context: Record<string, unknown>, line: string): void {
  forEachCookie(line, (name, value) => {
    if (name !== '' && value !== undefined) context[`cookies_${name}`] ??= unquoteCookie(value);
  });
}

/** The form first: it wins over a query parameter of the same name. */
function addParameters(context: Record<string, unknown>, query: string, form: string): undefined {
  const data: Record<string, string[]> = Object.create(null);
  let remaining = maxParameters;
  for (const text of [form, query])
    for (const [name, value] of text === '' ? [] : new URLSearchParams(text)) {
      if (--remaining < 0) break;
      data[name] ??= [];
      data[name].push(value);
      context[`request_data_${name.replaceAll('-', '_')}`] ??= value;
    }
  context.request_data = data;
}

import { createHash } from 'node:crypto';
import { describeError } from '#base/describe-error.ts';
import type { OutboundClient } from '#base/http-client/client.ts';
import type { OutboundResponse } from '#base/http-client/response.ts';
import { isObject } from '#base/json-tree.ts';
import type { Log } from '#base/log.ts';
import { Problem } from '#base/problems.ts';
import type { Settings } from '#base/settings.ts';
import { tryParseJson } from '#base/try-parse-json.ts';
import { scanModule } from '#languages/rego/module-text.ts';
import { problem } from '../problems.ts';

/** Bound of a response of the agent. */
const maxResponseBytes = 1024 * 1024;

/** A module as the agent holds it: its package is named after its content, so that no process reads another version. */
interface AgentModule {
  readonly digest: string;
  readonly text: string;
  readonly ruleNames: ReadonlySet<string>;
}

/** Requests to the agent. A failure is logged with its reason, which the response to the user does not name. */
function createAgentClient(outbound: OutboundClient, settings: Settings, log: Log) {
  const base = settings['rules.opa_url'].replace(/\/+$/, '');

  async function send(method: string, path: string, body?: string): Promise<OutboundResponse> {
    const token = settings['rules.opa_token'];
    try {
      return await outbound.fetch({
        url: `${base}${path}`,
        method,
        headers: {
          'content-type': method === 'PUT' ? 'text/plain' : 'application/json',
          ...(token && { authorization: `Bearer ${token}` }),
        },
        ...(body !== undefined && { body }),
        audience: 'operator',
        timeoutMs: settings['rules.opa_timeout_ms'],
        maxBytes: maxResponseBytes,
      });
    } catch (cause) {
      log.warn({ reason: describeError(cause) }, 'Open Policy Agent unavailable');
      throw problem.rules_unavailable({ detail: { reason: 'Open Policy Agent unavailable' }, cause });
    }
  }

  function rejectResponse({ status }: OutboundResponse): never {
    log.warn({ status }, 'Open Policy Agent response unusable');
    throw problem.rules_unavailable({ detail: { reason: 'the response of Open Policy Agent is unusable' } });
  }

  return { send, rejectResponse };
}

/** Client of an Open Policy Agent (its REST API, v1): holds the rules of organisations, and evaluates them. */
export function createPolicyAgent(outbound: OutboundClient, settings: Settings, log: Log) {
  const { send, rejectResponse } = createAgentClient(outbound, settings, log);

  /** Loads a module; one that the agent cannot compile is an invalid request. */
  async function load({ digest, text }: AgentModule): Promise<void> {
    const response = await send('PUT', `/v1/policies/gw/rules/${digest}`, text);
    if (response.status === 400) throw problem.rules_invalid({ detail: { reason: readCompileErrors(response) } });
    if (response.status !== 200) rejectResponse(response);
  }

  /** Document of the module's package; undefined where the agent does not have the module. */
  async function query({ digest }: AgentModule, body: string): Promise<Record<string, unknown> | undefined> {
    const response = await send('POST', `/v1/data/gw/rules/${digest}`, body);
    const document = parseBody(response);
    if (response.status !== 200 || !isObject(document)) return rejectResponse(response);
    if (!Object.hasOwn(document, 'result')) return undefined;
    return isObject(document.result) ? document.result : rejectResponse(response);
  }

  return {
    load: (orgId: string, text: string) => load(toAgentModule(orgId, text)),
    /** Values of the rules for an input. A restarted agent has lost its modules: they are loaded again. */
    async evaluate(orgId: string, text: string, input: unknown) {
      const module = toAgentModule(orgId, text);
      const body = JSON.stringify({ input });
      let values = await query(module, body);
      if (!values) {
        await load(module);
        values = await query(module, body);
      }
      if (!values) throw problem.rules_unavailable({ detail: { reason: 'Open Policy Agent has no such rules' } });
      return { values, ruleNames: module.ruleNames };
    },
    /** Removes a module that is no longer used. A failure is logged, and leaves it there without effect. */
    async unload(orgId: string, text: string): Promise<void> {
      const { digest } = toAgentModule(orgId, text);
      const response = await send('DELETE', `/v1/policies/gw/rules/${digest}`).catch((error: unknown) => {
        if (error instanceof Problem) return undefined;
        throw error;
      });
      if (response && response.status !== 200 && response.status !== 404)
        log.warn({ status: response.status }, 'Open Policy Agent module not removed');
    },
  };
}

function toAgentModule(orgId: string, text: string): AgentModule {
  const { ruleNames, withPackage } = scanModule(text);
  const digest = `r${createHash('sha256').update(`${orgId}\n${text}`).digest('hex')}`;
  return { digest, text: withPackage(`gw.rules.${digest}`), ruleNames };
}

const parseBody = ({ body }: OutboundResponse): unknown => tryParseJson(body.toString('utf8'));

interface CompileError {
  readonly message?: unknown;
  readonly location?: { readonly row?: unknown; readonly col?: unknown };
}

function readCompileErrors(response: OutboundResponse): string {
  const { errors, message } = (parseBody(response) ?? {}) as { errors?: CompileError[]; message?: unknown };
  const [first] = Array.isArray(errors) ? errors : [];
  if (!first) return String(message ?? 'Open Policy Agent does not accept them');
  const { row, col } = first.location ?? {};
  return `line ${row}, column ${col}: ${first.message}`;
}

import { z } from 'zod';
import { Policy } from '#access/policies/schema.ts';
import type { Outbound } from '#base/outbound.ts';
import type { OutboundAnswer } from '#base/outbound-answer.ts';
import { Problem } from '#base/problems.ts';
import type { ApiFacts, ControlPlane, ControlPlaneOf } from './control-plane.ts';
import { problem } from './problems.ts';

const timeoutMs = 15_000;
/** All policies of an organisation come in one answer. */
const maxBytes = 32 * 1024 * 1024;
const reasonLength = 300;
const callsAtOnce = 8;

const PolicyPage = z.object({ Data: z.array(Policy).nullable() });
const Created = z.object({ Message: z.string().min(1) });
const KeyEnvelope = z.object({
  key_id: z.string().min(1),
  key_hash: z.string(),
  data: z.looseObject({ expires: z.number().optional() }),
});
const ApiWrapper = z.object({
  is_streams: z.boolean().optional(),
  api_definition: z.looseObject({
    api_id: z.string(),
    name: z.string(),
    active: z.boolean().optional(),
    proxy: z.looseObject({ listen_path: z.string().optional(), target_url: z.string().optional() }).optional(),
    graphql: z.looseObject({ enabled: z.boolean().optional() }).nullish(),
  }),
});

/** Another installation, through its dashboard interface. */
export function remoteControlPlanes(outbound: Outbound): ControlPlaneOf {
  return provider => {
    const { Name: name, MetaData, Secret } = provider;
    const base = MetaData.URL.replace(/\/+$/, '');
    const masked = (text: string) => (Secret ? text.replaceAll(Secret, '***') : text).slice(0, reasonLength);
    const refused = (reason: string) => problem.provider_refused({ detail: { name, reason: masked(reason) } });
    const away = (reason: string, cause?: unknown) =>
      problem.provider_away({ detail: { name, reason: masked(reason) }, cause });

    async function send(method: string, path: string, body?: unknown): Promise<OutboundAnswer> {
      try {
        return await outbound.fetch({
          url: base + path,
          method,
          headers: {
            authorization: Secret,
            accept: 'application/json',
            ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
          audience: 'operator',
          timeoutMs,
          maxBytes,
          ...(MetaData.InsecureSkipVerify ? { tls: { insecure: true } } : {}),
        });
      } catch (cause) {
        if (cause instanceof Problem) throw away(cause.message, cause);
        throw cause;
      }
    }

    function failure({ status, body }: OutboundAnswer): Problem {
      const reason = `${status} ${messageOf(body.toString('utf8'))}`;
      const willNotHaveUs = status === 401 || status === 403 || status >= 500;
      return willNotHaveUs ? away(reason) : refused(reason);
    }

    function read<S extends z.ZodType>(shape: S, { body }: OutboundAnswer): z.output<S> {
      const result = shape.safeParse(parsed(body.toString('utf8')));
      if (!result.success) throw away('its answer is not what a dashboard says');
      return result.data;
    }

    async function ask<S extends z.ZodType>(shape: S, method: string, path: string, body?: unknown) {
      const answer = await send(method, path, body);
      if (answer.status >= 300) throw failure(answer);
      return read(shape, answer);
    }

    /** The same where the object may be absent. */
    async function askMaybe<S extends z.ZodType>(shape: S, method: string, path: string) {
      const answer = await send(method, path);
      if (answer.status === 404) return undefined;
      if (answer.status >= 300) throw failure(answer);
      return read(shape, answer);
    }

    const policyPath = (id: string) => `/api/portal/policies/${encodeURIComponent(id)}`;
    const anything = z.unknown();

    const plane: ControlPlane = {
      policies: async () => (await ask(PolicyPage, 'GET', '/api/portal/policies?p=-2')).Data ?? [],
      async createPolicy(policy) {
        const { Message: id } = await ask(Created, 'POST', '/api/portal/policies', policy);
        return ask(Policy, 'GET', policyPath(id));
      },
      async updatePolicy(id, change) {
        const current = await ask(Policy, 'GET', policyPath(id));
        await ask(anything, 'PUT', policyPath(id), change(current));
        return ask(Policy, 'GET', policyPath(id));
      },
      async deletePolicy(id) {
        await askMaybe(anything, 'DELETE', policyPath(id));
      },
      async apis(ids) {
        const found = new Map<string, ApiFacts>();
        for (let at = 0; at < ids.length; at += callsAtOnce) {
          const some = ids.slice(at, at + callsAtOnce);
          const answers = await Promise.all(
            some.map(id => askMaybe(ApiWrapper, 'GET', `/api/apis/${encodeURIComponent(id)}`)),
          );
          for (const wrapper of answers) if (wrapper) found.set(wrapper.api_definition.api_id, factsOf(wrapper));
        }
        return found;
      },
      async createKey(key) {
        const { key_id, key_hash, data } = await ask(KeyEnvelope, 'POST', '/api/keys', key);
        return { key_id, key_hash, expires: data.expires ?? 0 };
      },
      async deleteKey(keyId) {
        await askMaybe(anything, 'DELETE', `/api/keys/${encodeURIComponent(keyId)}`);
      },
    };
    return plane;
  };
}

function factsOf({ is_streams, api_definition: definition }: z.output<typeof ApiWrapper>): ApiFacts {
  return {
    apiId: definition.api_id,
    name: definition.name,
    kind: is_streams ? 'streams' : definition.graphql?.enabled ? 'GraphQL' : 'REST',
    listenPath: definition.proxy?.listen_path ?? '',
    targetUrl: definition.proxy?.target_url ?? '',
    active: definition.active !== false,
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON is not what a dashboard says; the shape it is checked against refuses it.
    return undefined;
  }
}

function messageOf(text: string): string {
  const { Message, message } = (parsed(text) ?? {}) as { Message?: unknown; message?: unknown };
  const said = Message ?? message;
  return typeof said === 'string' ? said : text;
}

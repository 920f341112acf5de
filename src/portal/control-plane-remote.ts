import { z } from 'zod';
import { Policy } from '#access/policies/schema.ts';
import type { OutboundClient } from '#base/http-client/client.ts';
import type { ApiFacts, ControlPlaneOf } from './control-plane.ts';
import { createDashboardClient } from './control-plane-calls.ts';
import { problem } from './problems.ts';
import { isDotSegment } from './shapes.ts';

/** Concurrent requests for API definitions. */
const maxConcurrentCalls = 8;

const anything = z.unknown();
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

/** Control plane of another installation, through its dashboard API. */
export function createRemoteControlPlane(outbound: OutboundClient, caFile: string): ControlPlaneOf {
  return provider => {
    const { call, callMaybe } = createDashboardClient(provider, outbound, caFile);
    /** One path segment: an id must not name another resource. */
    const toSegment = (id: string) => {
      if (isDotSegment(id))
        throw problem.provider_refused({ detail: { name: provider.Name, reason: `${id} is not an id` } });
      return encodeURIComponent(id);
    };
    const policyPath = (id: string) => `/api/portal/policies/${toSegment(id)}`;
    return {
      policies: async () => (await call(PolicyPage, 'GET', '/api/portal/policies?p=-2')).Data ?? [],
      async createPolicy(policy) {
        const { Message: id } = await call(Created, 'POST', '/api/portal/policies', policy);
        return call(Policy, 'GET', policyPath(id));
      },
      async updatePolicy(id, change) {
        const current = await call(Policy, 'GET', policyPath(id));
        await call(anything, 'PUT', policyPath(id), change(current));
        return call(Policy, 'GET', policyPath(id));
      },
      async deletePolicy(id) {
        await callMaybe(anything, 'DELETE', policyPath(id));
      },
      async apis(ids) {
        const facts = new Map<string, ApiFacts>();
        const known = ids.filter(id => !isDotSegment(id));
        for (let at = 0; at < known.length; at += maxConcurrentCalls) {
          const some = known.slice(at, at + maxConcurrentCalls);
          const answers = await Promise.all(some.map(id => callMaybe(ApiWrapper, 'GET', `/api/apis/${toSegment(id)}`)));
          for (const wrapper of answers) if (wrapper) facts.set(wrapper.api_definition.api_id, toApiFacts(wrapper));
        }
        return facts;
      },
      async createKey(key, name) {
        const path = name === undefined ? '/api/keys' : `/api/keys/${toSegment(name)}`;
        const { key_id, key_hash, data } = await call(KeyEnvelope, 'POST', path, key);
        return { key_id, key_hash, expires: data.expires ?? 0 };
      },
      async deleteKey(keyId) {
        await callMaybe(anything, 'DELETE', `/api/keys/${toSegment(keyId)}`);
      },
    };
  };
}

function toApiFacts({ is_streams, api_definition: definition }: z.output<typeof ApiWrapper>): ApiFacts {
  return {
    apiId: definition.api_id,
    name: definition.name,
    kind: is_streams ? 'streams' : definition.graphql?.enabled ? 'GraphQL' : 'REST',
    listenPath: definition.proxy?.listen_path ?? '',
    targetUrl: definition.proxy?.target_url ?? '',
    active: definition.active !== false,
  };
}

import { isAuthority } from '../http/request-head.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { PipelineServices } from '../pipeline/services.ts';
import type { Step, StepReads } from '../pipeline/step.ts';
import { compileHeaderChange } from './header-changes.ts';

type Services = Pick<PipelineServices, 'isContextName' | 'secrets' | 'settings'>;

const reads = { api: ['graphql'] } as const satisfies StepReads;

/** Headers of upstream requests of a GraphQL API: added ones, then final rewrites. */
export const graphqlHeadersStep: Step<Services, typeof reads> = {
  name: 'graphql-headers',
  reads,
  build({ model: { graphql }, services }) {
    if (!graphql.enabled) return undefined;
    const added = compileValues(graphql.requestHeaders, services);
    const rewrites = Object.entries(graphql.requestHeadersRewrite).map(([name, { value, remove }]) => ({
      ...compileValues({ [name]: value }, services)[0]!,
      isRemoved: remove,
    }));
    if (added.length + rewrites.length === 0) return undefined;
    return {
      request(call) {
        for (const header of added) addHeader(call, header, graphql.useImmutableHeaders);
        for (const header of rewrites) rewriteHeader(call, header);
        return undefined;
      },
    };
  },
};

interface HeaderValue {
  readonly name: string;
  readonly lowerName: string;
  value(call: Exchange): string;
}

const compileValues = (headers: Readonly<Record<string, string>>, services: Services): HeaderValue[] =>
  (compileHeaderChange({ remove: [], add: headers }, services)?.set ?? []).map(({ name, value }) => ({
    name,
    lowerName: name.toLowerCase(),
    value,
  }));

/** Immutable headers: one of the client is preserved. Otherwise both are sent. */
function addHeader(call: Exchange, { name, lowerName, value }: HeaderValue, preservesClient: boolean): void {
  if (lowerName === 'host') return setHost(call, value(call));
  if (!preservesClient || !call.headers.has(lowerName)) call.headers.append(name, value(call));
}

function rewriteHeader(
  call: Exchange,
  { name, lowerName, value, isRemoved }: HeaderValue & { readonly isRemoved: boolean },
): void {
  const text = value(call);
  if (!isRemoved) {
    if (lowerName === 'host') setHost(call, text);
    else call.headers.set(name, text);
  } else if (call.headers.all(lowerName).some(it => it !== text)) call.headers.remove(lowerName);
}

function setHost(call: Exchange, host: string): void {
  if (isAuthority(host)) call.upstreamHost = host;
}

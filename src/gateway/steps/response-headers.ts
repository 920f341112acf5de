import { createEndpointMatcher } from '../pipeline/endpoint-match.ts';
import type { PipelineServices } from '../pipeline/services.ts';
import type { Step, StepContext, StepReads } from '../pipeline/step.ts';
import { applyHeaderChange, compileHeaderChange, type HeaderChangeConfig } from './header-changes.ts';
import { headerInjections } from './response-processors.ts';

type Services = Pick<PipelineServices, 'isContextName' | 'secrets' | 'settings'>;

const reads = {
  version: ['responseHeaders'],
  endpoints: ['transformResponseHeaders'],
  also: { api: ['responseProcessors'] },
} as const satisfies StepReads;

/** Response header transforms: of the endpoint, the version, then response processors. */
export const responseHeadersStep: Step<Services, typeof reads> = {
  name: 'response-headers',
  reads,
  build(context) {
    const { version, services } = context;
    const entries = version.endpoints.transformResponseHeaders.flatMap(entry => {
      const change = compileHeaderChange(entry, services);
      return change ? [{ path: entry.path, method: entry.method, change }] : [];
    });
    const endpoints = createEndpointMatcher(entries, { ...context, settings: services.settings });
    const versionChanges = versionConfigs(context).flatMap(config => compileHeaderChange(config, services) ?? []);
    if (!endpoints && versionChanges.length === 0) return undefined;
    return {
      response(call, response) {
        const endpoint = endpoints?.find(call);
        if (endpoint) applyHeaderChange(endpoint.change, call, response.headers);
        for (const change of versionChanges) applyHeaderChange(change, call, response.headers);
      },
    };
  },
};

function versionConfigs({ model, version }: StepContext<Services, typeof reads>): HeaderChangeConfig[] {
  const own = version.responseHeaders.enabled ? [version.responseHeaders] : [];
  return [...own, ...headerInjections(model, version)];
}

import { z } from 'zod';
import { trimTrailingSlashes } from '#base/trim-slashes.ts';
import type { Model, VersionModel } from '#definition/model.ts';
import type { HeaderList } from '../http/headers.ts';
import type { PipelineServices } from '../pipeline/services.ts';
import { ApiCompileError, type Step, type StepContext, type StepReads } from '../pipeline/step.ts';
import type { UpstreamAddress } from '../pipeline/upstream-address.ts';
import { parseUpstreamAddress } from '../proxy/load-balancer.ts';
import type { HeaderChangeConfig } from './header-changes.ts';

type Services = Pick<PipelineServices, 'log' | 'settings'>;

const reads = {
  api: ['responseProcessors'],
  also: { api: ['listen', 'upstream', 'loadBalancing'] },
} as const satisfies StepReads;

/**
 * Response processors of classic definitions. `header_injector` is part of the header transforms; this step rewrites
 * upstream URLs in headers to those of the gateway.
 */
export const responseProcessorsStep: Step<Services, typeof reads> = {
  name: 'response-processors',
  reads,
  build(context) {
    const cleanups = context.model.responseProcessors.list.flatMap(({ name, options }) => {
      const create = processors[name];
      if (create) return create(context, options) ?? [];
      // Unknown effect: without the processor a response may reveal more than it should.
      if (context.services.settings['transforms.on_failure'] === 'refuse')
        throw new ApiCompileError(`the response processor ${JSON.stringify(name.slice(0, 100))} is unknown`);
      context.services.log.error({ api: context.model.identity.id, name }, 'response processor unknown, skipped');
      return [];
    });
    if (cleanups.length === 0) return undefined;
    return {
      response(_call, response) {
        for (const cleanup of cleanups) cleanup(response.headers);
      },
    };
  },
};

type HeaderCleanup = (headers: HeaderList) => void;

const createNothing = () => undefined;
const rejectPluginHook = (): never => {
  throw new ApiCompileError('the gateway does not offer plugins');
};

const processors: Readonly<
  Record<string, (context: StepContext<Services, typeof reads>, options: unknown) => HeaderCleanup | undefined>
> = {
  __proto__: null as never,
  header_injector: createNothing,
  header_transform: createHeaderTransform,
  // Markers: the transforms of endpoints do the work.
  response_body_transform: createNothing,
  response_body_transform_jq: createNothing,
  custom_mw_res_hook: rejectPluginHook,
  custom_mw_js_res_hook: rejectPluginHook,
  goplugin_res_hook: rejectPluginHook,
};

const texts = z.array(z.string()).nullish();
const injectorOptions = z.looseObject({
  add_headers: z.record(z.string(), z.string()).nullish(),
  remove_headers: texts,
});
const transformOptions = z.looseObject({
  rev_proxy_header_cleanup: z.looseObject({ headers: texts, target_host: z.string().nullish() }).nullish(),
});

function parseProcessorOptions<T>(rule: z.ZodType<T>, name: string, options: unknown): T {
  const parsed = rule.safeParse(options ?? {});
  if (!parsed.success) throw new ApiCompileError(`the options of the response processor ${name} are invalid`);
  return parsed.data;
}

/** Headers of `header_injector`, unless the version disables global response headers. */
export function headerInjections(
  { responseProcessors }: Pick<Model, 'responseProcessors'>,
  { version }: Pick<VersionModel, 'version'>,
): HeaderChangeConfig[] {
  if (version.responseHeadersKept) return [];
  return responseProcessors.list
    .filter(({ name }) => name === 'header_injector')
    .map(({ name, options }) => {
      const { add_headers, remove_headers } = parseProcessorOptions(injectorOptions, name, options);
      return { add: add_headers ?? {}, remove: remove_headers ?? [] };
    });
}

/** Rewrites `Location` and similar headers: clients reach the gateway only. */
function createHeaderTransform(
  { model, version }: StepContext<Services, typeof reads>,
  options: unknown,
): HeaderCleanup | undefined {
  const { rev_proxy_header_cleanup: cleanup } = parseProcessorOptions(transformOptions, 'header_transform', options);
  const names = new Set((cleanup?.headers ?? []).map(name => name.toLowerCase()));
  if (names.size === 0) return undefined;
  const gatewayOrigin = parseGatewayOrigin(cleanup?.target_host ?? '');
  const listenPath = model.listen.strip ? trimTrailingSlashes(model.listen.path) : undefined;
  const replacers = listUpstreams(model, version).map(({ origin, path }) =>
    createReplacer(origin, path, gatewayOrigin, listenPath),
  );
  return ({ flat }) => {
    for (let i = 0; i < flat.length; i += 2)
      if (names.has(flat[i]!.toLowerCase()))
        flat[i + 1] = replacers.reduce((value, replace) => replace(value), flat[i + 1]!);
  };
}

function parseGatewayOrigin(text: string): string {
  const url = URL.parse(text);
  if (!url || url.host === '') throw new ApiCompileError(`${JSON.stringify(text)} is not a URL to show in headers`);
  return `${url.protocol}//${url.host}`;
}

function listUpstreams(
  { upstream, loadBalancing }: Pick<Model, 'upstream' | 'loadBalancing'>,
  { version }: Pick<VersionModel, 'version'>,
): UpstreamAddress[] {
  const listed = loadBalancing.enabled ? loadBalancing.targets.map(({ url }) => url) : [];
  const addresses = [upstream.url, version.overrideTarget, ...listed].filter(Boolean);
  return addresses.map(address => parseUpstreamAddress(address)).filter(({ loop }) => loop === '');
}

/** Host boundary: `//a.example` is not a prefix of `//a.example.org`. */
const hostContinues = /^[\w.:@-]/;

/** Replaces an origin wherever a value contains it; also its base path, where the listen path is stripped. */
function createReplacer(origin: string, base: string, gatewayOrigin: string, listenPath: string | undefined) {
  const path = trimTrailingSlashes(base);
  return (value: string): string => {
    let replaced = '';
    let end = 0;
    for (let at = value.indexOf(origin); at >= 0; at = value.indexOf(origin, end)) {
      const after = at + origin.length;
      replaced += value.slice(end, at);
      end = after;
      if (hostContinues.test(value.slice(after, after + 1))) replaced += origin;
      else if (listenPath === undefined) replaced += gatewayOrigin;
      else {
        const below =
          path !== '' && value.startsWith(path, after) && !/^[\w.~%-]/.test(value.slice(after + path.length));
        if (below) end += path.length;
        replaced += path === '' || below ? gatewayOrigin + listenPath : gatewayOrigin;
      }
    }
    return replaced + value.slice(end);
  };
}

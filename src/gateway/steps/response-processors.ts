import { z } from 'zod';
import { trimTrailingSlashes } from '#base/trim-slashes.ts';
import type { Model, VersionModel } from '#definition/model.ts';
import type { HeaderList } from '../http/headers.ts';
import { ApiCompileError, type Step, type StepContext } from '../pipeline/step.ts';
import { type Destination, destinationOf } from '../proxy/load-balancer.ts';
import type { HeaderWish } from './header-changes.ts';

/**
 * Changes of answers that the classic form names one by one. Setting headers is done with the other header changes; what
 * is left here puts the gateway's own address in place of the upstream's.
 */
export const responseProcessors: Step = {
  name: 'response-processors',
  build(context) {
    const cleanups = context.model.responseProcessors.list.flatMap(({ name, options }) => {
      const made = processors[name];
      if (made) return made(context, options) ?? [];
      // What it would have removed or replaced is unknown: without it a response may show more than it should.
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

type Cleanup = (headers: HeaderList) => void;

const nothing = () => undefined;
const hook = (): never => {
  throw new ApiCompileError('the gateway does not offer plugins');
};

const processors: Readonly<Record<string, (context: StepContext, options: unknown) => Cleanup | undefined>> = {
  __proto__: null as never,
  header_injector: nothing,
  header_transform: headerTransform,
  // Markers: what they stand for runs where an endpoint asks for it.
  response_body_transform: nothing,
  response_body_transform_jq: nothing,
  custom_mw_res_hook: hook,
  custom_mw_js_res_hook: hook,
  goplugin_res_hook: hook,
};

const texts = z.array(z.string()).nullish();
const injectorOptions = z.looseObject({
  add_headers: z.record(z.string(), z.string()).nullish(),
  remove_headers: texts,
});
const transformOptions = z.looseObject({
  rev_proxy_header_cleanup: z.looseObject({ headers: texts, target_host: z.string().nullish() }).nullish(),
});

function optionsOf<T>(rule: z.ZodType<T>, name: string, options: unknown): T {
  const read = rule.safeParse(options ?? {});
  if (!read.success) throw new ApiCompileError(`the options of the response processor ${name} cannot be read`);
  return read.data;
}

/** What `header_injector` sets and removes, unless the version wants no headers changed on all answers. */
export function injectedHeaders({ responseProcessors }: Model, { version }: VersionModel): HeaderWish[] {
  if (version.responseHeadersKept) return [];
  return responseProcessors.list
    .filter(({ name }) => name === 'header_injector')
    .map(({ name, options }) => {
      const { add_headers, remove_headers } = optionsOf(injectorOptions, name, options);
      return { add: add_headers ?? {}, remove: remove_headers ?? [] };
    });
}

/** Upstreams name themselves in `Location` and the like; callers only know the gateway. */
function headerTransform({ model, version }: StepContext, options: unknown): Cleanup | undefined {
  const { rev_proxy_header_cleanup: asked } = optionsOf(transformOptions, 'header_transform', options);
  const names = new Set((asked?.headers ?? []).map(name => name.toLowerCase()));
  if (names.size === 0) return undefined;
  const shown = ownAddress(asked?.target_host ?? '');
  const listenPath = model.listen.strip ? trimTrailingSlashes(model.listen.path) : undefined;
  const renamed = upstreamsOf(model, version).map(({ origin, path }) => renaming(origin, path, shown, listenPath));
  return ({ flat }) => {
    for (let at = 0; at < flat.length; at += 2)
      if (names.has(flat[at]!.toLowerCase()))
        flat[at + 1] = renamed.reduce((value, rename) => rename(value), flat[at + 1]!);
  };
}

function ownAddress(text: string): string {
  const url = URL.parse(text);
  if (!url || url.host === '') throw new ApiCompileError(`${JSON.stringify(text)} is no address to show in headers`);
  return `${url.protocol}//${url.host}`;
}

function upstreamsOf({ upstream, loadBalancing }: Model, { version }: VersionModel): Destination[] {
  const listed = loadBalancing.enabled ? loadBalancing.targets.map(({ url }) => url) : [];
  const addresses = [upstream.url, version.overrideTarget, ...listed].filter(Boolean);
  return addresses.map(address => destinationOf(address)).filter(({ loop }) => loop === '');
}

/** A host is itself only where it ends: `//a.example` is not the beginning of `//a.example.org`. */
const hostGoesOn = /^[\w.:@-]/;

/** Puts one address in place of another wherever it stands in a value; below its path too, where calls lose theirs. */
function renaming(origin: string, base: string, shown: string, listenPath: string | undefined) {
  const path = trimTrailingSlashes(base);
  return (value: string): string => {
    let renamed = '';
    let end = 0;
    for (let at = value.indexOf(origin); at >= 0; at = value.indexOf(origin, end)) {
      const after = at + origin.length;
      renamed += value.slice(end, at);
      end = after;
      if (hostGoesOn.test(value.slice(after, after + 1))) renamed += origin;
      else if (listenPath === undefined) renamed += shown;
      else {
        const below =
          path !== '' && value.startsWith(path, after) && !/^[\w.~%-]/.test(value.slice(after + path.length));
        if (below) end += path.length;
        renamed += path === '' || below ? shown + listenPath : shown;
      }
    }
    return renamed + value.slice(end);
  };
}

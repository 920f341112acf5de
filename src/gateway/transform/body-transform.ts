import { TemplateError } from '#languages/go-template/error.ts';
import { readTemplateFile } from '#languages/go-template/file.ts';
import type { Template, TemplateOptions } from '#languages/go-template/template.ts';
import { JqError } from '#languages/jq/error.ts';
import { loadGoTemplate } from '#languages/lazy-languages.ts';
import { XmlError } from '#languages/xml.ts';
import type { HeaderList } from '../http/headers.ts';
import { createEndpointMatcher, type EndpointMatcher } from '../pipeline/endpoint-match.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { PipelineServices } from '../pipeline/services.ts';
import { ApiCompileError, type StepContext } from '../pipeline/step.ts';
import { type BodyData, type BodyFormat, InvalidBody } from './body-data.ts';

/** Configuration of a template transform, request or response. */
interface TemplateConfig {
  readonly path: string;
  readonly method: string;
  readonly format: string;
  readonly mode: string;
  readonly source: string;
  readonly enableSession: boolean;
}

export interface BodyTransform {
  readonly path: string;
  readonly method: string;
  /** Undefined: the body stays. Throws errors that `isTransformError` recognises. */
  write(call: Exchange, bytes: Buffer, headers: HeaderList): Buffer | undefined;
}

/** Errors of a template, a filter or its input. `isLimitExceeded`: a bound was exceeded. */
export type TransformError = TemplateError | XmlError | JqError | InvalidBody;
export const isTransformError = (error: unknown): error is TransformError =>
  error instanceof TemplateError ||
  error instanceof XmlError ||
  error instanceof JqError ||
  error instanceof InvalidBody;

/** Parses a body to template data. */
type ParseBody = (bytes: Buffer, format: BodyFormat, maxValues: number) => BodyData;

/** Context that transforms of bodies are compiled from. */
export type TransformContext = StepContext<Pick<PipelineServices, 'settings'>, { also: { api: ['contextVariables'] } }>;

/** Undefined without transforms. */
export function createBodyTransforms(
  configs: readonly TemplateConfig[],
  { model, version, services }: TransformContext,
  parse: ParseBody,
  texts?: TemplateOptions['parseText'],
): EndpointMatcher<BodyTransform> | undefined {
  const maxValues = services.settings['gateway.max_body_values'];
  const showsContext = model.contextVariables.enabled;
  const entries = configs.map(config => {
    const template = compileBodyTemplate(config, services, texts);
    const format = config.format === 'xml' ? 'xml' : 'json';
    const render = createRenderer(template, config.enableSession, showsContext, services);
    return {
      path: config.path,
      method: config.method,
      write: (call: Exchange, bytes: Buffer) => render(call, parse(bytes, format, maxValues)),
    };
  });
  return createEndpointMatcher(entries, { model, version, settings: services.settings });
}

function createRenderer(
  template: Template,
  showsSession: boolean,
  showsContext: boolean,
  { settings }: Pick<PipelineServices, 'settings'>,
) {
  const bounds = { maxSteps: settings['templates.max_steps'], maxBytes: settings['gateway.max_buffered_body_bytes'] };
  // The requests of a key share its session: a template that changes maps gets a copy.
  const isolate: <T>(value: T) => T = template.mutatesData ? structuredClone : value => value;
  return (call: Exchange, body: BodyData): Buffer => {
    // Reserved names: clients must not set them.
    delete body._gw_meta;
    delete body._gw_context;
    if (showsSession && call.session) body._gw_meta = isolate(call.session.metaData);
    if (showsContext && call.context) body._gw_context = isolate(call.context);
    return Buffer.from(template.render(body, bounds, call));
  };
}

function compileBodyTemplate(
  { path, mode, source }: TemplateConfig,
  { settings }: Pick<PipelineServices, 'settings'>,
  texts: TemplateOptions['parseText'],
) {
  if (source === '') throw new ApiCompileError(`the body transform of ${path} has no template`);
  try {
    const text =
      mode === 'file' ? readTemplateFile(settings['templates.directory'], source) : decodeBase64Template(source);
    return loadGoTemplate().compileTemplate(text, texts ? { parseText: texts } : {});
  } catch (error) {
    if (isTransformError(error)) throw new ApiCompileError(`the body template of ${path} is invalid: ${error.message}`);
    throw error;
  }
}

function decodeBase64Template(source: string): string {
  const coded = source.replaceAll(/\s+/g, '');
  if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(coded)) throw new TemplateError('the text is not base64');
  return Buffer.from(coded, 'base64').toString();
}

/** Headers that describe the replaced bytes. */
const staleHeaders = ['content-encoding', 'content-md5', 'digest', 'content-digest', 'repr-digest'];

export function removeStaleHeaders(headers: HeaderList): void {
  for (const name of staleHeaders) headers.remove(name);
}

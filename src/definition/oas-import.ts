import type { JsonObject } from '#base/json-tree.ts';
import { getAt, isObject, objectOrEmpty, setAt } from '#base/json-tree.ts';
import type { ValidationError } from '#operations/validation-error.ts';
import type { CheckResult } from './check-result.ts';
import { extensionName } from './document-members.ts';
import type { ImportOptions } from './import-options.ts';
import { configureOperations, withOperationIds } from './oas-import-operations.ts';
import { configureAuthentication } from './oas-import-security.ts';
import { isAbsoluteUrl, upstreamFromServers } from './oas-import-servers.ts';
import { mergeObjects, mergeTemplate } from './oas-template.ts';

/** Builds an API from a plain OpenAPI document, over a template where there is one. */
export function importOas(source: unknown, options: ImportOptions, template: JsonObject = {}): CheckResult<unknown> {
  if (!isObject(source)) return { ok: false, errors: [{ path: '', message: 'must be an object' }] };
  const { [extensionName]: configured = {}, ...merged } = objectOrEmpty(mergeTemplate(template, source));
  if (!isObject(configured)) return { ok: false, errors: [{ path: extensionName, message: 'must be an object' }] };
  const document = withOperationIds(merged);
  const extension = mergeObjects(structuredClone(newExtension), configured);
  setAt(extension, ['info', 'name'], objectOrEmpty(document.info).title ?? '');
  if (options.apiID) setAt(extension, ['info', 'id'], options.apiID);
  const hasUpstream = Boolean(options.upstreamURL || getAt(extension, ['upstream', 'url']));
  const upstream = hasUpstream ? undefined : upstreamFromServers(document.servers);
  if (upstream && 'url' in upstream) setAt(extension, ['upstream', 'url'], upstream.url);
  const errors = [...checkTitle(document), ...applyImportOptions(extension, document, options)];
  if (upstream && 'error' in upstream) errors.unshift(upstream.error);
  return errors.length > 0
    ? { ok: false, errors }
    : { ok: true, definition: { ...document, [extensionName]: extension } };
}

const newExtension: JsonObject = {
  info: { state: { active: true, internal: false } },
  upstream: { url: '' },
  server: { listenPath: { value: '/', strip: true } },
  middleware: { global: { contextVariables: { enabled: true }, trafficLogs: { enabled: true } } },
};

/** The API takes the title of the document. The schema reports a title that is no text. */
const checkTitle = ({ info }: JsonObject): ValidationError[] =>
  isObject(info) && isBlank(info.title) ? [{ path: 'info.title', message: 'is required' }] : [];
const isBlank = (text: unknown) =>
  typeof text === 'string' ? text.trim() === '' : text === undefined || text === null;

/** Applies import options to the gateway extension. */
export function applyImportOptions(
  extension: JsonObject,
  document: JsonObject,
  options: ImportOptions,
): ValidationError[] {
  const { upstreamURL, listenPath, customDomain } = options;
  const errors: ValidationError[] = [];
  if (upstreamURL) {
    if (isAbsoluteUrl(upstreamURL)) setAt(extension, ['upstream', 'url'], upstreamURL);
    else errors.push({ path: 'upstreamURL', message: 'must be an absolute URL' });
  }
  if (listenPath) setAt(extension, ['server', 'listenPath', 'value'], withLeadingSlash(listenPath));
  if (customDomain) {
    const domain = objectOrEmpty(getAt(extension, ['server', 'customDomain']));
    setAt(extension, ['server', 'customDomain'], { ...domain, enabled: true, name: customDomain });
  }
  errors.push(...configureAuthentication(extension, document, options));
  configureOperations(extension, document, options);
  return errors;
}

const withLeadingSlash = (path: string) => (path.startsWith('/') ? path : `/${path}`);

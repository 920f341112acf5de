import type { JsonObject } from '#base/json-tree.ts';
import { getAt, isObject, objectOrEmpty, setAt } from '#base/json-tree.ts';
import { extensionName } from './document-members.ts';
import { configureOperations, withOperationIds } from './oas-import-operations.ts';
import { configureAuthentication } from './oas-import-security.ts';
import { isAbsoluteUrl, upstreamFromServers } from './oas-import-servers.ts';
import type { CheckResult, Fault } from './validation-error.ts';

/** What a caller may ask for beside the document; silence about one leaves it as it is. */
export interface ImportOptions {
  readonly upstreamURL?: string | undefined;
  readonly listenPath?: string | undefined;
  readonly customDomain?: string | undefined;
  readonly apiID?: string | undefined;
  readonly authentication?: boolean | undefined;
  readonly securityProcessingMode?: 'legacy' | 'compliant' | undefined;
  readonly allowList?: boolean | undefined;
  readonly validateRequest?: boolean | undefined;
  readonly mockResponse?: boolean | undefined;
}

export const hasNoOptions = (options: ImportOptions): boolean =>
  Object.values(options).every(value => value === undefined);

/** An API made from a document that knows nothing of the gateway. */
export function importOas(given: unknown, options: ImportOptions): CheckResult<unknown> {
  if (!isObject(given)) return { ok: false, errors: [{ path: '', message: 'must be an object' }] };
  const document = withOperationIds(given);
  const extension: JsonObject = {
    info: { name: objectOrEmpty(document.info).title ?? '', state: { active: true, internal: false } },
    upstream: { url: '' },
    server: { listenPath: { value: '/', strip: true } },
    middleware: { global: { contextVariables: { enabled: true }, trafficLogs: { enabled: true } } },
  };
  if (options.apiID) setAt(extension, ['info', 'id'], options.apiID);
  const found = options.upstreamURL ? undefined : upstreamFromServers(document.servers);
  if (found && 'url' in found) setAt(extension, ['upstream', 'url'], found.url);
  const faults = [...checkTitle(document), ...applyImportOptions(extension, document, options)];
  if (found && 'fault' in found) faults.unshift(found.fault);
  return faults.length > 0
    ? { ok: false, errors: faults }
    : { ok: true, definition: { ...document, [extensionName]: extension } };
}

/** The API is called what the document is. What is no text is told by the rules of documents. */
const checkTitle = ({ info }: JsonObject): Fault[] =>
  isObject(info) && isBlank(info.title) ? [{ path: 'info.title', message: 'is required' }] : [];
const isBlank = (text: unknown) =>
  typeof text === 'string' ? text.trim() === '' : text === undefined || text === null;

/** Writes what was asked for into the gateway's part of a document. */
export function applyImportOptions(extension: JsonObject, document: JsonObject, options: ImportOptions): Fault[] {
  const { upstreamURL, listenPath, customDomain } = options;
  const faults: Fault[] = [];
  if (upstreamURL) {
    if (isAbsoluteUrl(upstreamURL)) setAt(extension, ['upstream', 'url'], upstreamURL);
    else faults.push({ path: 'upstreamURL', message: 'must be an absolute URL' });
  }
  if (listenPath) setAt(extension, ['server', 'listenPath', 'value'], withLeadingSlash(listenPath));
  if (customDomain) {
    const domain = objectOrEmpty(getAt(extension, ['server', 'customDomain']));
    setAt(extension, ['server', 'customDomain'], { ...domain, enabled: true, name: customDomain });
  }
  faults.push(...configureAuthentication(extension, document, options));
  configureOperations(extension, document, options);
  return faults;
}

const withLeadingSlash = (path: string) => (path.startsWith('/') ? path : `/${path}`);

import { escapeMarkup } from '#base/escape-markup.ts';
import { STATUS_CODES } from '#base/node-http.ts';
import { framePolicy } from '#base/page-guard.ts';
import { TemplateError } from '#languages/go-template/error.ts';
import { readTemplateFile } from '#languages/go-template/file.ts';
import { loadGoTemplate } from '#languages/lazy-languages.ts';
import { bodyFromBytes } from '../../http/body.ts';
import type { GatewayResponse } from '../../http/response.ts';
import type { Exchange } from '../../pipeline/exchange.ts';
import { refusalResponse } from '../../pipeline/refusals.ts';
import type { ApiCompileError } from '../../pipeline/step.ts';
import { escapeHeaderValue } from '../../variables/variables.ts';
import type { ResponseRule } from './rule-schema.ts';

/** Replacement of an error response. */
export interface Replacement {
  /** True when the body is replaced, not only status and headers. */
  readonly hasBody: boolean;
  /** `message`: that of the gateway error; empty for upstream errors. Throws `TemplateError`. */
  apply(call: Exchange, response: GatewayResponse, message: string): void;
}

type RenderBody = (call: Exchange, facts: TemplateFacts) => { readonly type: string; readonly text: string };
interface TemplateFacts {
  readonly Message: string;
  readonly StatusCode: number;
}

/** Headers that describe the replaced body. */
const replacedBodyHeaders = [
  'content-encoding',
  'content-language',
  'content-range',
  'accept-ranges',
  'etag',
  'last-modified',
];
const json = 'application/json';
const xml = 'application/xml';
const bounds = { maxSteps: 20_000, maxBytes: 262_144, maxDepth: 20 };

/** A body wins over a template, a template over a message. */
export function compileReplacement(
  { statusCode, body, message, template, headers }: ResponseRule,
  directory: string,
  toError: (why: string) => ApiCompileError,
): Replacement {
  const render = body
    ? compileBody(body, toError)
    : template
      ? compileTemplateFile(template, directory, toError)
      : message
        ? renderAsRefusal
        : undefined;
  const headerValues = Object.entries(withPageGuard(headers ?? {})).map(
    ([name, value]) => [name, escapeHeaderValue(value)] as const,
  );
  return {
    hasBody: render !== undefined,
    apply(call, response, gatewayMessage) {
      const status = statusCode || response.status;
      if (render) {
        const facts = { Message: message || gatewayMessage || (STATUS_CODES[status] ?? ''), StatusCode: status };
        const { type, text: made } = render(call, facts);
        for (const name of replacedBodyHeaders) response.headers.remove(name);
        response.headers.set('Content-Type', type);
        response.body = bodyFromBytes(Buffer.from(made));
        response.headers.set('Content-Length', String(response.body.length));
      }
      response.status = status;
      for (const [name, value] of headerValues) response.headers.set(name, value);
    },
  };
}

/** Adds the security headers of pages to HTML and text errors, unless the rule sets them. */
function withPageGuard(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const lower = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  if (!/^text\/(?:html|plain)\b/i.test(lower.get('content-type') ?? '')) return headers;
  const guard = { 'X-Content-Type-Options': 'nosniff', 'Content-Security-Policy': framePolicy };
  const missing = Object.entries(guard).filter(([name]) => !lower.has(name.toLowerCase()));
  return { ...headers, ...Object.fromEntries(missing) };
}

/** Negotiated notation, as for any refusal. */
const renderAsRefusal: RenderBody = (call, { Message, StatusCode }) => {
  const { headers, body } = refusalResponse(call, StatusCode, Message);
  return { type: headers.get('content-type')!, text: body.bytes!.toString() };
};

const escapes: Readonly<Record<string, (text: string) => string>> = {
  [json]: text => JSON.stringify(text).slice(1, -1),
  [xml]: escapeMarkup,
};

function compileBody(source: string, toError: (why: string) => ApiCompileError): RenderBody {
  const type = /^\s*</.test(source) ? xml : json;
  if (!source.includes('{{')) return () => ({ type, text: source });
  return compileErrorTemplate(source, type, toError);
}

function compileErrorTemplate(source: string, type: string, toError: (why: string) => ApiCompileError): RenderBody {
  try {
    // Messages contain client input: escaping keeps it inside the quotes of the template.
    const template = loadGoTemplate().compileTemplate(source, { escape: escapes[type]! });
    return (_call, facts) => ({ type, text: template.render(facts, bounds) });
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    throw toError(`has an invalid template: ${error.message}`);
  }
}

/** A file name without extension selects JSON or XML by request type. */
function compileTemplateFile(name: string, directory: string, toError: (why: string) => ApiCompileError): RenderBody {
  const compileFile = (ending: string, type: string) => {
    const source = findTemplateFile(directory, name + ending);
    return source === undefined ? undefined : compileErrorTemplate(source, type, toError);
  };
  const forJson = compileFile('.json', json);
  const forXml = compileFile('.xml', xml);
  const plain = forJson || forXml ? undefined : compileFile('', name.endsWith('.xml') ? xml : json);
  const defaultTemplate = forJson ?? forXml ?? plain;
  if (!defaultTemplate) throw toError(`references the template ${name}, which is not in templates.directory`);
  return (call, facts) =>
    (forXml && renderAsRefusal(call, facts).type !== json ? forXml : defaultTemplate)(call, facts);
}

/** Undefined without such a file. */
function findTemplateFile(directory: string, name: string): string | undefined {
  try {
    return readTemplateFile(directory, name);
  } catch (error) {
    if (error instanceof TemplateError) return undefined;
    throw error;
  }
}

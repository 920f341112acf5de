import { readFileSync, statSync } from 'node:fs';
import { Lru } from '#base/lru.ts';
import { resolveTemplatePath } from '#languages/go-template/file.ts';
import { compileTemplate, type Template } from '#languages/go-template/template.ts';
import { formatDefaultBody, type GatewayEvent, toTemplateData } from './payload.ts';

export interface RenderedBody {
  readonly payload: string;
  /** Empty where nobody can know it. */
  readonly contentType: string;
}

const json = 'application/json';
const maxCachedTemplates = 500;
/** A webhook is told what happened, not sent a document. */
const maxPayloadBytes = 262_144;
const bounds = { maxSteps: 20_000, maxBytes: maxPayloadBytes, maxDepth: 20 };

/** A template is written where it is used, or is the name of a file. No file is called like a template. */
export const isTemplateText = (text: string): boolean => text.includes('{{') || /^\s*[{[]/.test(text);

/** The file that other gateways ship with: what is sent where nothing else is said. */
const isDefaultTemplate = (name: string) => name === '' || /(^|\/)default_webhook\.json$/.test(name);

export type BodyRenderer = ReturnType<typeof createBodyRenderer>;

/** Bodies of webhook calls, from templates written into a definition or kept as files below `directory`. */
export function createBodyRenderer(directory: string) {
  const compiled = new Lru<string, Template>(maxCachedTemplates);

  function getTemplate(key: string, source: () => string): Template {
    const cached = compiled.get(key);
    if (cached) return cached;
    const compiledTemplate = compileTemplate(source(), { escape: escapeHtml });
    compiled.set(key, compiledTemplate);
    return compiledTemplate;
  }

  function loadFile(name: string): Template {
    const path = resolveTemplatePath(directory, name);
    // A file that changes is read again.
    return getTemplate(`${path}\n${statSync(path).mtimeMs}`, () => readFileSync(path, 'utf8'));
  }

  /** Throws an error that says what is wrong with the template. */
  return (template: string, gatewayEvent: GatewayEvent): RenderedBody => {
    if (isDefaultTemplate(template)) return { payload: formatDefaultBody(gatewayEvent), contentType: json };
    const isText = isTemplateText(template);
    const compiledTemplate = isText ? getTemplate(template, () => template) : loadFile(template);
    const payload = compiledTemplate.render(toTemplateData(gatewayEvent), bounds);
    const isJson = isText ? /^\s*[{[]/.test(payload) : template.endsWith('.json');
    return { payload, contentType: isJson ? json : '' };
  };
}

const unsafe = /[&<>"'\\\p{Cc}]/gu;

/** Callers choose parts of these texts: whatever they write stays inside the quotes a template puts around it. */
const escapeHtml = (text: string) => text.replaceAll(unsafe, it => `&#${it.codePointAt(0)};`);

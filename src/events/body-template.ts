import { readFileSync, statSync } from 'node:fs';
import { Lru } from '#base/lru.ts';
import { resolveTemplatePath } from '#languages/go-template/file.ts';
import type { Template } from '#languages/go-template/template.ts';
import { loadGoTemplate } from '#languages/lazy-languages.ts';
import { formatDefaultBody, type GatewayEvent, toTemplateData } from './payload.ts';

export interface RenderedBody {
  readonly payload: string;
  /** Empty where it is unknown. */
  readonly contentType: string;
}

const json = 'application/json';
const maxCachedTemplates = 500;
/** Webhook bodies are notifications, not documents. */
const maxPayloadBytes = 262_144;
const bounds = { maxSteps: 20_000, maxBytes: maxPayloadBytes, maxDepth: 20 };

/** A template is inline text or a file name; no file name looks like a template. */
export const isTemplateText = (text: string): boolean => text.includes('{{') || /^\s*[{[]/.test(text);

/** Default template, by the file name that other gateways ship. */
const isDefaultTemplate = (name: string) => name === '' || /(^|\/)default_webhook\.json$/.test(name);

export type BodyRenderer = ReturnType<typeof createBodyRenderer>;

/** Renders webhook bodies, from inline templates or from files below `directory`. */
export function createBodyRenderer(directory: string) {
  const compiled = new Lru<string, Template>(maxCachedTemplates);

  function getTemplate(key: string, source: () => string): Template {
    const cached = compiled.get(key);
    if (cached) return cached;
    const compiledTemplate = loadGoTemplate().compileTemplate(source(), { escape: escapeHtml });
    compiled.set(key, compiledTemplate);
    return compiledTemplate;
  }

  function loadFile(name: string): Template {
    const path = resolveTemplatePath(directory, name);
    // The mtime in the key reloads a changed file.
    return getTemplate(`${path}\n${statSync(path).mtimeMs}`, () => readFileSync(path, 'utf8'));
  }

  /** Throws on an invalid template. */
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

/** Escapes client-controlled text, so that it cannot end the quotes that a template puts around it. */
const escapeHtml = (text: string) => text.replaceAll(unsafe, it => `&#${it.codePointAt(0)};`);

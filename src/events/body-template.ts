import { readFileSync, statSync } from 'node:fs';
import { Lru } from '#base/lru.ts';
import { resolveTemplatePath } from '#languages/go-template/file.ts';
import { compileTemplate, type Template } from '#languages/go-template/template.ts';
import { defaultBody, eventObject, type Happened } from './payload.ts';

export interface RenderedBody {
  readonly payload: string;
  /** Empty where nobody can know it. */
  readonly contentType: string;
}

const json = 'application/json';
const templatesKept = 500;
/** A webhook is told what happened, not sent a document. */
const payloadBytes = 262_144;
const bounds = { maxSteps: 20_000, maxBytes: payloadBytes, maxDepth: 20 };

/** A template is written where it is used, or is the name of a file. No file is called like a template. */
export const isTemplateText = (text: string): boolean => text.includes('{{') || /^\s*[{[]/.test(text);

/** The file that other gateways ship with: what is sent where nothing else is said. */
const isDefault = (name: string) => name === '' || /(^|\/)default_webhook\.json$/.test(name);

export type BodyTemplates = ReturnType<typeof bodyTemplates>;

/** Bodies of webhook calls, from templates written into a definition or kept as files below `directory`. */
export function bodyTemplates(directory: string) {
  const compiled = new Lru<string, Template>(templatesKept);

  function templateOf(key: string, source: () => string): Template {
    const known = compiled.get(key);
    if (known) return known;
    const made = compileTemplate(source(), { escape: htmlSafe });
    compiled.set(key, made);
    return made;
  }

  function fromFile(name: string): Template {
    const path = resolveTemplatePath(directory, name);
    // A file that changes is read again.
    return templateOf(`${path}\n${statSync(path).mtimeMs}`, () => readFileSync(path, 'utf8'));
  }

  /** Throws an error that says what is wrong with the template. */
  return (template: string, happened: Happened): RenderedBody => {
    if (isDefault(template)) return { payload: defaultBody(happened), contentType: json };
    const isText = isTemplateText(template);
    const made = isText ? templateOf(template, () => template) : fromFile(template);
    const payload = made.render(eventObject(happened), bounds);
    const isJson = isText ? /^\s*[{[]/.test(payload) : template.endsWith('.json');
    return { payload, contentType: isJson ? json : '' };
  };
}

const unsafe = /[&<>"'\\\p{Cc}]/gu;

/** Callers choose parts of these texts: whatever they write stays inside the quotes a template puts around it. */
const htmlSafe = (text: string) => text.replaceAll(unsafe, it => `&#${it.codePointAt(0)};`);

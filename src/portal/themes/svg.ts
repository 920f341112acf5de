import { isObject } from '#base/json-tree.ts';
import { decodeXml, parseXml, XmlError } from '#languages/xml.ts';

/** Elements that draw. Everything else is refused: scripts, foreign content, links, animations of attributes. */
const elements = new Set(
  (
    'svg g path rect circle ellipse line polyline polygon text tspan textPath title desc defs metadata ' +
    'linearGradient radialGradient stop clipPath mask use symbol pattern marker style filter feBlend feColorMatrix ' +
    'feComponentTransfer feComposite feConvolveMatrix feDiffuseLighting feDisplacementMap feDistantLight feDropShadow ' +
    'feFlood feFuncA feFuncB feFuncG feFuncR feGaussianBlur feMerge feMergeNode feMorphology feOffset fePointLight ' +
    'feSpecularLighting feSpotLight feTile feTurbulence'
  ).split(' '),
);

const refusedStyle = /@import|expression\s*\(|image-set\s*\(|javascript:|\\/i;
/** Processing instructions, such as `xml-stylesheet`, which the parser leaves out. */
const instruction = /<\?(?!xml\s)/i;
const foreignUrl = /url\(\s*['"]?\s*(?!['"]?#)/i;
const hasForeignStyle = (text: string) => refusedStyle.test(text) || foreignUrl.test(text);

/** Why an SVG image is refused: it could run scripts or load what is not in it. Undefined for one that only draws. */
export function findSvgFault(bytes: Buffer): string | undefined {
  try {
    const text = decodeXml(bytes);
    if (instruction.test(text)) return 'has a processing instruction, which images may not have';
    const document = parseXml(text);
    const [root, ...more] = Object.keys(document);
    if (root !== 'svg' || more.length > 0) return 'is not an SVG image';
    return findFault('svg', document.svg);
  } catch (error) {
    if (!(error instanceof XmlError)) throw error;
    return `is not an SVG image: ${error.message}`;
  }
}

function findFault(name: string, content: unknown): string | undefined {
  if (!elements.has(name)) return `has the element ${name}, which images may not have`;
  for (const each of Array.isArray(content) ? content : [content]) {
    if (!isObject(each)) {
      if (name === 'style' && hasForeignStyle(String(each))) return 'has styles that load other files';
      continue;
    }
    for (const [member, value] of Object.entries(each)) {
      const fault = member.startsWith('-')
        ? findAttributeFault(member.slice(1), String(value))
        : member === '#text'
          ? findTextFault(name, String(value))
          : findFault(member, value);
      if (fault !== undefined) return fault;
    }
  }
  return undefined;
}

const findTextFault = (name: string, text: string) =>
  name === 'style' && hasForeignStyle(text) ? 'has styles that load other files' : undefined;

function findAttributeFault(name: string, value: string): string | undefined {
  if (/^on/i.test(name)) return `has the event handler ${name}`;
  if (/^(href|src)$/i.test(name) && !value.trim().startsWith('#')) return `has a reference to another file in ${name}`;
  return hasForeignStyle(value) ? `has a reference to another file in ${name}` : undefined;
}

/** Parts of a composed supergraph that need more than a plan, with the reason for the author. */
const unsupportedParts: readonly (readonly [pattern: RegExp, message: string])[] = [
  [/@policy\(/, 'the directive @policy is not supported: @requiresScopes and @authenticated are'],
  [/\boverrideLabel:/, 'the argument label of @override is not supported: without it the field moves at once'],
  [/\bcontextArguments:/, 'the directive @fromContext is not supported'],
];

/** Without texts in quotes: descriptions may say anything. */
const removeTexts = (sdl: string): string => sdl.replaceAll(/"""(?:[^"\\]|\\.|"(?!""))*"""|"(?:[^"\\\n]|\\.)*"/g, '""');

/** Unsupported directives of a supergraph: one that has no effect here must not look as if it had one. */
export function findUnsupportedDirective(supergraphSdl: string): string | undefined {
  const text = removeTexts(supergraphSdl).replaceAll(/^directive @[^\n]*(?:\n[ )][^\n]*)*/gm, '');
  return unsupportedParts.find(([pattern]) => pattern.test(text))?.[1];
}

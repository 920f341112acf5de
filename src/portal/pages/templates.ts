import { closestMatch } from '#base/closest-match.ts';
import { createInvalidProblem, type ValidationError } from '#operations/validation-error.ts';

/** Templates for pages of the default theme. */
export const defaultTemplates = ['home', 'catalogue', 'flip_flop', 'page'];

/** A page needs a template of the active theme. */
export function checkTemplate(template: string, templates: readonly string[]): void {
  if (templates.includes(template)) return;
  const nearest = closestMatch(template, [...templates]);
  const guess = nearest === undefined ? '' : `; did you mean ${nearest}?`;
  const fault: ValidationError = { path: 'Template', message: `the theme has no template ${template}${guess}` };
  throw createInvalidProblem([fault]);
}

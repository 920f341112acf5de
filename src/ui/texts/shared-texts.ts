import { auditTexts } from './en/audit.ts';
import { kitTexts } from './en/kit.ts';
import { shellTexts } from './en/shell.ts';

/** Texts of the kit, which both web apps load. */
export const sharedTexts = { kit: kitTexts, shell: shellTexts, audit: auditTexts };

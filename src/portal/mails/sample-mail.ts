import type { PortalServices } from '../portal-stores.ts';
import { present, problem } from '../problems.ts';
import { findMailKind, type MailName, type MailVariables, mailTable, sampleMailUser } from './mail-table.ts';
import { describeTemplateFault } from './render.ts';
import type { MailTemplates } from './schema.ts';

export const requireMailName = (name: string, missing?: 'unknown'): MailName => {
  present(findMailKind(name), 'Mail', missing);
  return name as MailName;
};

/** Renders templates with the sample data. */
export async function renderSampleMail(
  name: MailName,
  templates: Partial<MailTemplates>,
  { portal }: Pick<PortalServices, 'portal'>,
) {
  const sample = mailTable[name].sample as MailVariables<MailName>;
  try {
    return await portal.sendMail.render(name, templates, sampleMailUser, sample);
  } catch (error) {
    throw problem.template_failed({ detail: { reason: describeTemplateFault(error) } });
  }
}

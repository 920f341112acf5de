import type { Kind } from '../kind.ts';
import { kindNames } from '../schema.ts';
import { apiKind } from './api.ts';
import { certificateKind } from './certificate.ts';
import { groupKind } from './group.ts';
import { policyKind } from './policy.ts';
import { templateKind } from './template.ts';
import { userKind } from './user.ts';
import { webhookKind } from './webhook.ts';

const all = [groupKind, userKind, webhookKind, certificateKind, templateKind, apiKind, policyKind];

/** Kinds in the order of application. */
export const kinds: readonly Kind[] = kindNames.map(name => all.find(kind => kind.name === name)!);

import { createSecurityRequirementsStep } from '../auth/security-requirements.ts';
import { pluginAuthStep } from './plugin-auth.ts';
import type { StepServices } from './step-services.ts';

/** Security requirements with all auth methods, that of plugins included. */
export const alternativesStep = createSecurityRequirementsStep<StepServices>(pluginAuthStep);

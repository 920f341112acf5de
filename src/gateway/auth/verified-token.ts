import type { Model } from '#definition/model.ts';

/** True where a later step reads the claims of the token: scope check, token exchange, guarded fields of a supergraph. */
export const needsVerifiedToken = ({ oauth2, graphql }: Pick<Model, 'oauth2' | 'graphql'>): boolean =>
  oauth2.enabled || (graphql.enabled && graphql.executionMode === 'supergraph');

/** Where the installation remembers the organisation made at first start: the operator's own. */
export const defaultOrgMetaName = 'default_org';

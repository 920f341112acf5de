import { Fragment } from 'react';

/** A path that wraps after its slashes. */
export const PathText = ({ path }: { path: string }) =>
  [...path.matchAll(/[^/]*\/|[^/]+/g)].map(({ 0: segment, index }) => (
    <Fragment key={index}>
      {segment}
      <wbr />
    </Fragment>
  ));

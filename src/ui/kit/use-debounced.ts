import { useEffect, useState } from 'react';

const pauseMs = 250;

/** Value after a pause in its changes: one request for a word, not for each letter. */
export function useDebounced<Value>(value: Value): Value {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), pauseMs);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

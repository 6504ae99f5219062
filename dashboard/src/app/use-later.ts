import { useEffect, useState } from 'react'

/** The value as it was when it last stayed the same for this time: for requests while somebody types. */
export function useLater<T>(value: T, ms: number): T {
  const [later, setLater] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setLater(value), ms)
    return () => clearTimeout(timer)
  }, [value, ms])
  return later
}

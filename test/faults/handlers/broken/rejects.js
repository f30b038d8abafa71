await Promise.reject(new Error('broken at load'))

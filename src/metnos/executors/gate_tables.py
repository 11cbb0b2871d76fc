"""What the static gate knows about Python's modules and functions: tables, and no code that decides anything.

Rules: a standard module that is in no table here is refused, so a module of a newer Python is refused until someone
has looked at it. Names are resolved before they are looked up (`gate_names`): ``os.system``, whatever it was imported
or renamed as. Does not claim that every function of an allowed module is harmless; the sandbox bounds what they do.
"""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# -- modules

HARMLESS = _words(
    """__future__ abc argparse array ast base64 binascii bisect builtins bz2 calendar chunk cmath codecs
    collections colorsys concurrent configparser contextlib contextvars copy copyreg csv dataclasses datetime
    dbm decimal difflib email encodings enum errno filecmp fileinput fnmatch fractions functools gc genericpath
    getopt gettext glob graphlib gzip hashlib heapq hmac html imghdr inspect io ipaddress itertools json keyword
    linecache locale logging lzma mailcap math mimetypes netrc ntpath numbers opcode operator optparse os
    pathlib pickle pickletools plistlib posixpath pprint pyexpat queue quopri random re reprlib sched secrets
    shelve shlex shutil sndhdr sqlite3 sre_compile sre_constants sre_parse stat statistics string stringprep
    struct sunau sys tarfile tempfile textwrap threading time token tokenize tomllib traceback types typing
    unicodedata uu uuid warnings wave weakref xdrlib xml zipfile zlib zoneinfo urllib urllib.parse urllib.error
    urllib.response    http http.cookies"""
)

# The C halves of modules above, and modules that only another system has.
HARMLESS_HALVES = _words(
    """_abc _bisect _blake2 _bz2 _codecs _collections _collections_abc _compat_pickle _compression _csv _datetime
    _dbm _decimal _elementtree _functools _gdbm _hashlib _heapq _io _json _locale _lzma _markupbase _md5
    _operator _pickle _pydatetime _pydecimal _queue _random _sha1 _sha2 _sha256 _sha3 _sha512 _sqlite3 _sre
    _stat _statistics _string _strptime _struct _thread _tokenize _warnings _weakref _weakrefset _winapi
    _zoneinfo _codecs_cn _codecs_hk _codecs_iso2022 _codecs_jp _codecs_kr _codecs_tw _multibytecodec _opcode _py_abc
    msvcrt nt winreg"""
)

# What stands for it in a manifest is ctx.http: nothing else reaches the network.
NETWORK = _words(
    """asynchat asyncio asyncore cgi cgitb ftplib http.client http.cookiejar http.server imaplib nntplib poplib
    select selectors smtpd smtplib socket _socket socketserver ssl _ssl telnetlib urllib.request
    urllib.robotparser webbrowser wsgiref xmlrpc antigravity xml.sax.saxutils.urllib aiohttp aioftp asyncssh
    boto boto3 botocore bottle cherrypy curl_cffi discord django dns dnspython fabric falcon fastapi flask
    flask_cors grpc gunicorn httpcore httplib2 httpx impacket kafka mechanize nmap paho paramiko pika pycurl
    pymongo pymysql pyftpdlib quart redis requests requests_html sanic scapy scrapy selenium playwright
    slack_sdk starlette telebot telegram tornado treq twisted urllib3 uvicorn websocket websockets werkzeug zmq
    psycopg psycopg2 mysql pymssql smbprotocol ldap3 pyshark netifaces whois shodan"""
)

PROCESS = _words(
    """multiprocessing pty _posixsubprocess pexpect ptyprocess sh plumbum invoke billiard celery
    concurrent.futures.process _multiprocessing ptrace"""
)

NATIVE = _words("ctypes _ctypes cffi _cffi_backend mmap numba pyximport llvmlite")

DYNAMIC = _words(
    """code codeop compileall ensurepip imp importlib _imp _frozen_importlib marshal modulefinder pkgutil
    py_compile runpy site sitecustomize usercustomize venv zipapp zipimport distutils setuptools pip
    pkg_resources lib2to3 dill cloudpickle joblib jsonpickle symtable dis _testcapi _interpreters
    _xxsubinterpreters RestrictedPython asteval simpleeval"""
)

INTERPRETER = _words(
    """atexit bdb cProfile doctest faulthandler pdb profile pstats pyclbr pydoc rlcompleter signal _signal
    sysconfig timeit trace tracemalloc _tracemalloc unittest _lsprof greenlet gevent eventlet resource
    memory_profiler guppy objgraph pympler"""
)

TERMINAL = _words(
    """cmd curses getpass readline termios tkinter tty turtle turtledemo idlelib fcntl ossaudiodev winsound msilib
    _curses _tkinter"""
)

# What stands for it in a manifest is ctx.system: who watches the machine, its screen or its owner.
SURVEILLANCE = _words(
    """psutil watchdog pyinotify inotify pynput keyboard mouse pyautogui pyperclip clipboard mss pyscreenshot cv2
    pyaudio sounddevice wmi win32api win32clipboard win32gui pywin32 GPUtil pyudev usb bluetooth uptime distro
    cpuinfo py3nvml pynvml speedtest keyring browser_cookie3 xlib Xlib evdev PIL.ImageGrab"""
)

HOST_FACTS = _words("platform pwd grp spwd _spwd crypt nis syslog posix")  # waived by system.read of host

# -- functions and attributes, by resolved name

FORBIDDEN = {
    "dynamic-code": """builtins.eval builtins.exec builtins.compile builtins.__import__ builtins.breakpoint
        types.FunctionType types.CodeType types.LambdaType importlib.* marshal.* code.* codeop.* runpy.* imp.*
        sys.meta_path sys.path_hooks sys.path_importer_cache sys.path.append sys.path.insert sys.path.extend
        logging.config.listen""",
    "interpreter": """sys.settrace sys.setprofile sys.addaudithook sys._current_frames sys._current_exceptions
        sys._getframe sys.setswitchinterval sys.call_tracing sys.set_asyncgen_hooks sys._debugmallocstats
        threading.settrace threading.setprofile gc.get_objects gc.get_referrers gc.get_referents gc.set_debug
        inspect.currentframe inspect.stack inspect.trace inspect.getouterframes inspect.getinnerframes
        inspect.getframeinfo inspect.getclosurevars traceback.walk_stack""",
    "process": """os.system os.popen os.fork os.forkpty os.kill os.killpg os.abort os._exit os.setuid os.setgid
        os.seteuid os.setegid os.setreuid os.setregid os.setresuid os.setresgid os.setgroups os.initgroups os.setsid
        os.setpgid os.setpgrp os.nice os.setpriority os.sched_setaffinity os.sched_setscheduler os.chroot os.pidfd_open
        os.setns os.unshare os.login_tty os.openpty subprocess.getoutput subprocess.getstatusoutput
        concurrent.futures.ProcessPoolExecutor""",
    "threads": """threading.Thread threading.Timer threading._start_new_thread _thread.start_new_thread
        _thread.start_new _thread.interrupt_main concurrent.futures.ThreadPoolExecutor concurrent.futures.thread.*""",
    "native-code": "os.memfd_create",
    "deserialise": """pickle.load pickle.loads pickle.Unpickler pickle._Unpickler pickle._loads shelve.open shelve.Shelf
        yaml.load yaml.unsafe_load yaml.full_load yaml.load_all yaml.UnsafeLoader yaml.Loader numpy.load torch.load
        pandas.read_pickle""",
    "surveillance": "PIL.ImageGrab.*",
    "environment": "os.putenv os.unsetenv",
}
# Harmless to read, not to change.
UNCHANGEABLE = _words(
    """sys.excepthook sys.unraisablehook sys.displayhook sys.breakpointhook sys.modules sys.path sys.flags
    sys.dont_write_bytecode"""
)

PROGRAM_CALLS = _words(
    """subprocess.run subprocess.Popen subprocess.call subprocess.check_call subprocess.check_output os.execl
    os.execle os.execlp os.execlpe os.execv os.execve os.execvp os.execvpe os.posix_spawn os.posix_spawnp
    os.spawnl os.spawnle os.spawnlp os.spawnlpe os.spawnv os.spawnve os.spawnvp os.spawnvpe os.startfile"""
)

HOST_CALLS = _words(
    """os.environ os.environb os.getenv os.getenvb os.uname os.getlogin os.getgroups os.getgrouplist os.getuid
    os.geteuid os.getgid os.getegid os.getresuid os.getresgid os.getppid os.getpgid os.getpgrp os.getsid
    os.getloadavg os.cpu_count os.sched_getaffinity os.sysconf os.confstr os.times os.statvfs os.fstatvfs
    os.ctermid os.ttyname shutil.disk_usage shutil.which uuid.getnode uuid.uuid1 time.tzset
    locale.getdefaultlocale os.getpriority os.get_exec_path"""
)

# -- files

READ_CALLS = _words(
    """builtins.open io.open io.open_code io.FileIO _io.open codecs.open os.open os.listdir os.scandir os.walk
    os.fwalk os.stat os.lstat os.readlink os.access os.listxattr os.getxattr os.chdir os.fchdir os.pathconf
    os.path.exists os.path.lexists os.path.isfile os.path.isdir os.path.islink os.path.ismount os.path.getsize
    os.path.getmtime os.path.getatime os.path.getctime os.path.samefile glob.glob glob.iglob fileinput.input
    fileinput.FileInput linecache.getline linecache.getlines linecache.updatecache tokenize.open zipfile.ZipFile
    zipfile.PyZipFile zipfile.is_zipfile zipfile.Path tarfile.open tarfile.TarFile tarfile.is_tarfile gzip.open
    gzip.GzipFile bz2.open bz2.BZ2File lzma.open lzma.LZMAFile wave.open sunau.open filecmp.cmp filecmp.cmpfiles
    filecmp.dircmp netrc.netrc sqlite3.connect mimetypes.read_mime_types xml.etree.ElementTree.parse
    xml.dom.minidom.parse xml.sax.parse lxml.etree.parse lxml.html.parse pandas.read_csv openpyxl.load_workbook
    pypdf.PdfReader docx.Document PIL.Image.open numpy.loadtxt numpy.fromfile logging.config.fileConfig
    imghdr.what sndhdr.what"""
)

WRITE_CALLS = _words(
    """os.remove os.unlink os.rmdir os.removedirs os.mkdir os.makedirs os.rename os.renames os.replace os.truncate
    os.chmod os.lchmod os.fchmod os.chown os.lchown os.fchown os.chflags os.symlink os.link os.utime os.setxattr
    os.removexattr os.mkfifo os.mknod shutil.rmtree shutil.move shutil.copy shutil.copy2 shutil.copyfile
    shutil.copymode shutil.copystat shutil.copytree shutil.chown shutil.make_archive shutil.unpack_archive
    logging.FileHandler logging.basicConfig logging.handlers.RotatingFileHandler
    logging.handlers.TimedRotatingFileHandler"""
)

# In which arguments the path to be changed stands; the first if it is not here.
WRITE_TARGETS = {
    "os.rename": (0, 1), "os.renames": (0, 1), "os.replace": (0, 1), "os.symlink": (1,), "os.link": (1,),
    "shutil.move": (0, 1), "shutil.copy": (1,), "shutil.copy2": (1,), "shutil.copyfile": (1,), "shutil.copymode": (1,),
    "shutil.copystat": (1,), "shutil.copytree": (1,), "shutil.unpack_archive": (1,),
}  # fmt: skip

MODE_CALLS = {  # functions that read or write as their mode says, and which argument that is
    "builtins.open": 1, "io.open": 1, "_io.open": 1, "io.FileIO": 1, "codecs.open": 1, "gzip.open": 1, "bz2.open": 1,
    "lzma.open": 1, "zipfile.ZipFile": 1, "zipfile.PyZipFile": 1, "tarfile.open": 1, "tarfile.TarFile": 1,
    "wave.open": 1, "sunau.open": 1, "gzip.GzipFile": 1, "bz2.BZ2File": 1, "lzma.LZMAFile": 1, "os.fdopen": 1,
}  # fmt: skip

# Methods of pathlib.Path that no other common type has.
READ_METHODS = _words("read_text read_bytes iterdir rglob is_file is_dir is_symlink expanduser")
WRITE_METHODS = _words(
    "write_text write_bytes unlink rmdir touch symlink_to hardlink_to lchmod mkdir link_to extractall"
)

# The system's own trees. Nobody is granted them without asking by name, so they are never inferred.
SYSTEM_ROOTS = (
    "bin", "boot", "dev", "efi", "etc", "lib", "lib32", "lib64", "libx32", "opt", "proc", "root", "run", "sbin", "snap",
    "srv", "sys", "usr", "var", "lost+found",
)  # fmt: skip
OTHER_ROOTS = ("app", "data", "home", "media", "mnt", "tmp", "Users", "Volumes", "workspace", "private", "System")
NO_FILES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/urandom", "/dev/random", "/dev/stdin", "/dev/stdout")

# Names of vocabularies, which look like addresses and are never fetched.
NAMESPACE_HOSTS = (
    "www.w3.org", "w3.org", "schemas.openxmlformats.org", "schemas.microsoft.com", "purl.org", "ns.adobe.com",
    "json-schema.org", "schema.org", "xmlns.com", "relaxng.org", "docbook.org", "xml.org", "openoffice.org",
    "purl.oclc.org", "xml.apache.org", "www.daisy.org", "www.idpf.org", "www.sitemaps.org",
)  # fmt: skip

# -- attributes that lead out of what a piece of code was given

DUNDERS = _words(
    """__subclasses__ __globals__ __builtins__ __code__ __closure__ __loader__ __import__ __build_class__
    __func_globals__ func_globals func_code f_globals f_locals f_back f_builtins f_code gi_frame gi_code
    cr_frame cr_code ag_frame ag_code tb_frame co_code co_consts"""
)
CLIMBING = frozenset({"__mro__", "__base__"})

# Modules whose whole power one name holds: as a value they could be carried where no rule sees them.
CARRIED = _words("os sys subprocess shutil builtins importlib io pathlib codecs gc inspect")

CONTEXT = _words(
    "write put make_folder move copy trash look http call chat system mcp now workspace dry_run failure fail Failure"
    " limit"
)
CONTEXT_WRITES = _words("write put make_folder move copy trash")
